package dev.raddle.examples.reports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import dev.raddle.processes.WorkerJvm;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Ends a real process under load: what it has accepted is answered, done, written down or made by the next process. */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
@Timeout(value = 8, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SigtermTest {

    private static final int OF_A_TENANT = 8;
    private static final int QUEUE = 50;
    private static final int THREADS = 4;
    private static final int JOBS = 10;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    private Path directory;

    @Test
    void after_a_sigterm_under_load_nothing_that_was_accepted_is_lost_and_before_it_a_flood_delays_no_other_tenant()
            throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.builder()
                        .setLocaleConfig("locale", "C")
                        .start();
                WorkerJvm first = WorkerJvm.start("service", HeldService.class, properties(server, "5s"))) {
            String address = "http://127.0.0.1:" + portOf(first);

            List<CompletableFuture<HttpResponse<String>>> flood = flood(first, address);
            assertThat(send("GET", address + "/b/reports/sales").get().body()).isEqualTo("sales for b: 101 rows");
            assertThat(flood).filteredOn(CompletableFuture::isDone).hasSize(1); // A's rejected one: the others wait

            acceptJobs(first, address);
            acceptOrders(first, address);
            ProcessHandle process = ProcessHandle.of(first.pid()).orElseThrow();
            process.destroy(); // SIGTERM
            first.send("held-a");

            int served = 0;
            for (CompletableFuture<HttpResponse<String>> answer : flood) {
                served += answer.get().statusCode() == 200 ? 1 : 0;
            }
            assertThat(served).isEqualTo(OF_A_TENANT + QUEUE);
            process.onExit().get();
            assertThat(lines("done")).hasSize(JOBS).allMatch(line -> line.startsWith("quick"));
            assertThat(lines("left")).hasSize(JOBS).allMatch(line -> line.equals("held-night"));

            startAgain(server);
        }
    }

    /** An application starts more slowly than it answers: on a busy machine this may take two waits. */
    private static String portOf(WorkerJvm service) {
        try {
            return service.await("port ").substring(5);
        } catch (AssertionError notYet) {
            return service.await("port ").substring(5);
        }
    }

    private List<String> properties(EmbeddedPostgres server, String shutdownTimeout) {
        return List.of(
                "--server.port=0",
                "--spring.profiles.active=durable",
                "--spring.datasource.url=" + server.getJdbcUrl("postgres", "postgres"),
                "--spring.datasource.username=postgres",
                "--spring.lifecycle.timeout-per-shutdown-phase=5m",
                "--raddle.console.enabled=false",
                "--raddle.groups.tenants.queue-timeout=1h", // however slow the machine is
                "--raddle.shutdown.timeout=" + shutdownTimeout,
                "--reports.directory=" + directory);
    }

    /** Fills the limit and the queue of tenant A, so that one request is rejected. */
    private List<CompletableFuture<HttpResponse<String>>> flood(WorkerJvm service, String address) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> flood = new ArrayList<>();
        for (int i = 0; i < OF_A_TENANT + QUEUE + 1; i++) {
            flood.add(send("GET", address + "/held-a/reports/sales"));
        }
        for (int i = 0; i < OF_A_TENANT; i++) {
            service.await("begun held-a");
        }
        HttpResponse<?> refused = (HttpResponse<?>)
                CompletableFuture.anyOf(flood.toArray(CompletableFuture[]::new)).get();
        assertThat(refused.statusCode()).isEqualTo(429);
        return flood;
    }

    /** Some jobs are done, as the threads of the pool have the later ones; of these, some have not started. */
    private void acceptJobs(WorkerJvm service, String address) throws Exception {
        for (int i = 0; i < 2 * JOBS; i++) {
            String tenant = i < JOBS ? "quick" : "held-night";
            assertThat(send("POST", address + "/nightly/" + tenant).get().statusCode())
                    .isEqualTo(202);
        }
        for (int i = 0; i < THREADS; i++) {
            service.await("begun held-night");
        }
    }

    /** Some orders have begun when the signal arrives, and none of them ends in this process. */
    private void acceptOrders(WorkerJvm service, String address) throws Exception {
        for (int i = 0; i < JOBS; i++) {
            assertThat(send("PUT", address + "/held-order/orders/order-" + i)
                            .get()
                            .statusCode())
                    .isEqualTo(202);
        }
        service.await("begun held-order");
    }

    private void startAgain(EmbeddedPostgres server) throws Exception {
        try (Service second = Service.start(properties(server, "5m"))) {
            FlowService flows = second.context().getBean(FlowService.class);
            for (int i = 0; i < JOBS; i++) {
                assertThat(flows.await("order-" + i).state())
                        .isIn(RunState.SUCCESS, RunState.DEGRADED); // without its headline, which was late
            }
            String orders = second.address() + "/orders/";
            assertThat(send("GET", orders + "order-0").get().body()).isIn("SUCCESS", "DEGRADED");
            assertThat(send("GET", orders + "another").get().statusCode()).isEqualTo(404);
        } // drains the pool
        assertThat(lines("done")).hasSize(2 * JOBS);
        assertThat(lines("left")).isEmpty();
    }

    private List<String> lines(String file) throws Exception {
        Path path = directory.resolve(file);
        if (!Files.exists(path)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(path)) {
            return lines.toList();
        }
    }

    private CompletableFuture<HttpResponse<String>> send(String method, String address) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return http.sendAsync(request, BodyHandlers.ofString());
    }
}
