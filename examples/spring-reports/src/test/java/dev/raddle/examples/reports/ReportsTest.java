package dev.raddle.examples.reports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.pool.ThreadPool;
import dev.raddle.processes.ReadmeCommands;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Bean;

/** Runs the service and asks it through HTTP. */
class ReportsTest {

    private static final int OF_A_TENANT = 8;
    private static final int QUEUE = 50;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Test
    void a_tenant_that_floods_the_service_leaves_connections_to_the_others_and_is_answered_with_429() throws Exception {
        List<String> noTimeout = List.of("--raddle.groups.tenants.queue-timeout=1h"); // however slow the machine is
        try (Service service = Service.start(noTimeout, HeldBackends.Instead.class)) {
            HeldBackends backends = service.context().getBean(HeldBackends.class);
            List<CompletableFuture<HttpResponse<String>>> flood = new ArrayList<>();
            for (int i = 0; i < OF_A_TENANT + QUEUE + 1; i++) {
                flood.add(get(service, "/held/reports/sales"));
            }
            backends.begun.acquire(OF_A_TENANT);
            HttpResponse<?> refused = (HttpResponse<?>) CompletableFuture.anyOf(flood.toArray(CompletableFuture[]::new))
                    .get();
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");

            assertThat(get(service, "/b/reports/sales").get().body()).isEqualTo("sales for b: 101 rows");
            assertThat(backends.begun.availablePermits()).isZero(); // A has its connections and no more

            assertThat(get(service, "/actuator/health").get().body())
                    .contains("\"tenants\":{\"running\":8,\"waiting\":50,");
            assertThat(get(service, "/actuator/raddle/tenants/held").get().body())
                    .contains("50 tasks wait; the next waits for a slot of its group, 0 before it; 8 of 8 slots");
            backends.hold.countDown();
            long served = 0;
            for (CompletableFuture<HttpResponse<String>> answer : flood) {
                served += answer.get().statusCode() == 200 ? 1 : 0;
            }
            assertThat(served).isEqualTo(OF_A_TENANT + QUEUE);
        }
    }

    @Test
    void without_limits_the_same_flood_takes_all_connections() throws Exception {
        try (Service service = Service.start(false, HeldBackends.Instead.class)) {
            HeldBackends backends = service.context().getBean(HeldBackends.class);
            List<CompletableFuture<HttpResponse<String>>> flood = new ArrayList<>();
            for (int i = 0; i < HeldBackends.CONNECTIONS; i++) {
                flood.add(get(service, "/held/reports/sales"));
            }
            backends.begun.acquire(HeldBackends.CONNECTIONS);
            CompletableFuture<HttpResponse<String>> other = get(service, "/b/reports/sales");
            while (!backends.connections.hasQueuedThreads()) {
                Thread.onSpinWait();
            }
            assertThat(other).isNotDone();
            backends.hold.countDown();
            assertThat(other.get().body()).isEqualTo("sales for b: 101 rows");
            CompletableFuture.allOf(flood.toArray(CompletableFuture[]::new)).get();
        }
    }

    @Test
    void the_virtual_users_of_the_load_generator_get_reports_and_rejections_only() throws Exception {
        List<LoadGenerator.Row> rows = LoadGenerator.compare(80, 2, 5);
        assertThat(rows)
                .extracting(LoadGenerator.Row::service)
                .containsExactly(
                        "without, B alone", "without, A floods", "with Raddle, B alone", "with Raddle, A floods");
        assertThat(rows).allSatisfy(row -> {
            assertThat(row.b().nanos()).hasSize(10);
            assertThat(row.b().rejected() + row.b().failed()).isZero();
        });
        ByteArrayOutputStream table = new ByteArrayOutputStream();
        LoadGenerator.print(new PrintStream(table, true, StandardCharsets.UTF_8), rows);
        assertThat(table.toString(StandardCharsets.UTF_8).lines()).hasSize(6);
    }

    @Test
    void the_command_of_the_README_prints_the_table(@TempDir Path output) throws Exception {
        ReadmeCommands readme = new ReadmeCommands(Path.of("README.md"), Path.of("..", ".."), output);
        assertThat(readme.commandOf(ReportsApplication.class)).endsWith("ReportsApplication");

        List<String> lines = readme.run(readme.commandOf(LoadGenerator.class, "20", "2", "5"));

        assertThat(lines).filteredOn(line -> line.startsWith("| with")).hasSize(4);
    }

    @Test
    void the_service_has_the_meters_of_its_tenants() throws Exception {
        try (Service service = Service.start(true)) {
            get(service, "/a/reports/sales").get();
            assertThat(service.context().getBean("tenants", GroupExecutor.class).activeGroupKeys())
                    .containsExactly("a");
            assertThat(get(service, "/actuator/metrics/raddle.group.run").get().body())
                    .contains("\"tenants\"", "\"success\"");
        }
    }

    @Test
    void an_overview_has_the_values_of_three_services_and_fails_when_each_attempt_of_one_hangs() throws Exception {
        try (Service service = Service.start(true, HeldBackends.Instead.class)) {
            assertThat(get(service, "/b/overview").get().body()).isEqualTo("news for b: 101 rows at 108");
            assertThat(get(service, "/silent/overview").get().statusCode()).isEqualTo(503);
        }
    }

    @Test
    void a_statement_has_a_default_for_a_headline_that_is_late() throws Exception {
        try (Service service = Service.start(true, HeldBackends.Instead.class)) {
            assertThat(get(service, "/silent/statements/2026-11").get().body())
                    .isEqualTo("2026-11: 106 rows at 108, no news");
        }
    }

    @Test
    void a_job_that_the_pool_hands_back_is_in_the_file_of_what_is_left(@TempDir Path directory) throws Exception {
        try (Service service = Service.start(List.of("--reports.directory=" + directory))) {
            ThreadPool night = service.context().getBean(ThreadPool.class);
            CountDownLatch begun = new CountDownLatch(night.getMaximumPoolSize());
            CountDownLatch never = new CountDownLatch(1);
            for (int i = 0; i < night.getMaximumPoolSize(); i++) {
                night.submit(() -> {
                    begun.countDown();
                    never.await();
                    return null;
                });
            }
            begun.await();
            service.context().getBean(Nightly.class).accept("acme");

            night.drain(Duration.ZERO);

            assertThat(directory.resolve("left")).hasContent("acme\n");
        }
    }

    @Test
    void the_tasks_of_a_request_have_spans_in_its_trace() throws Exception {
        try (Service service = Service.start(List.of(), Spans.class)) {
            get(service, "/a/statements/2026-11").get();
            service.context().getBean(SdkTracerProvider.class).forceFlush().join(1, TimeUnit.MINUTES);
            List<SpanData> spans =
                    service.context().getBean(InMemorySpanExporter.class).getFinishedSpanItems();
            assertThat(spans).extracting(SpanData::getName).contains("EUR", "Warehouse.rows");
            assertThat(spans)
                    .extracting(SpanData::getTraceId)
                    .containsOnly(spans.getFirst().getTraceId());
            assertThat(spans) // that of the request may end after the answer
                    .filteredOn(span -> List.of("EUR", "Warehouse.rows").contains(span.getName()))
                    .allMatch(span -> span.getParentSpanContext().isValid());
        }
    }

    static class Spans {
        @Bean
        InMemorySpanExporter spans() {
            return InMemorySpanExporter.create();
        }
    }

    private CompletableFuture<HttpResponse<String>> get(Service service, String path) {
        URI uri = service.address().resolve(path);
        return http.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
