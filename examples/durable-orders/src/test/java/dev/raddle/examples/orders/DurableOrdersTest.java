package dev.raddle.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.LoopbackPorts;
import dev.raddle.processes.ProcessDirectory;
import dev.raddle.processes.ReadmeCommands;
import dev.raddle.processes.RestateServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of the README: real processes that are killed, a real database, a real engine. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DurableOrdersTest {
    private static final Path ROOT = Path.of("..", "..");
    private static final String SUMMARY = "charged: 10, refunded: 1, in stock: 91";
    private static final List<String> STEPS = List.of("reserved", "charged", "shipped", "refunded", "freed");
    private static final Pattern STEP = Pattern.compile("worker-(\\d) (\\w+) order (\\d+)(?: of request (\\d+))?");

    @TempDir
    private Path directory;

    @Test
    void orders_in_files_are_continued_by_a_process_with_the_same_files() throws Exception {
        List<String> lines = run(commandOf(OrdersInFiles.class, orders()));

        ensureNothingIsLostOrRepeated(lines);
        assertThat(lines).contains("order-1: SUCCESS", "order-7: FAILED", "order-10: SUCCESS");
    }

    @Test
    void orders_in_files_that_have_ended_are_not_tried_again() throws Exception {
        run(commandOf(OrdersInFiles.class, orders()));

        assertThat(run(commandOf(OrdersInFiles.class, "worker-4", "", orders())))
                .isEmpty();
    }

    private String orders() {
        return directory.resolve("orders").toString();
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for it")
    void orders_in_a_database_are_taken_over_by_another_worker() throws Exception {
        try (EmbeddedPostgres server =
                EmbeddedPostgres.builder().setLocaleConfig("locale", "C").start()) {
            List<String> lines = run(commandOf(OrdersInDatabase.class, server.getJdbcUrl("postgres", "postgres")));

            ensureNothingIsLostOrRepeated(lines);
            ensureEachStepHasItsRequest(lines);
            assertThat(lines).contains("order-1: SUCCESS", "order-7: FAILED", "order-10: SUCCESS");
            assertThat(lines).anyMatch(line -> line.matches("nightly report at \\S+T0[12]:00:00Z")); // three in Berlin
        }
    }

    @Test
    void orders_on_Restate_are_continued_by_another_worker() throws Exception {
        skipWithoutRestate();
        try (RestateServer server = RestateServer.start(
                RestateServer.executable(ROOT), ProcessDirectory.create("raddle-orders"), RestateServer.SMALL)) {
            String port = Integer.toString(LoopbackPorts.free());
            List<String> lines = run(commandOf(OrdersOnRestate.class, server.ingressUrl(), server.adminUrl(), port));

            ensureNothingIsLostOrRepeated(lines);
            ensureEachStepHasItsRequest(lines);
            assertThat(lines).contains("order-1: 200 parcel 1", "order-10: 200 parcel 10");
            assertThat(lines).anyMatch(line -> line.matches("order-7: 500 .*order.* is FAILED.*no such address.*"));
        }
    }

    private static void skipWithoutRestate() {
        String missing = RestateServer.missing(ROOT);
        if (!missing.isEmpty()) {
            System.out.println("skipped: " + missing);
            Assumptions.abort(missing);
        }
    }

    // What each place promises.

    private static void ensureNothingIsLostOrRepeated(List<String> lines) {
        assertThat(lines).endsWith(SUMMARY);
        assertThat(lines.stream().map(line -> line.replaceAll(" of request \\d+$", "")))
                .containsSubsequence(
                        "--- worker-1 is killed when it has shipped an order, before that is recorded",
                        "worker-2 refunded order 7",
                        "worker-2 freed order 7",
                        "--- worker-2 is killed when it has freed an order, before that is recorded",
                        "worker-3 freed order 7");
        List<MatchResult> steps = lines.stream()
                .map(STEP::matcher)
                .filter(Matcher::matches)
                .map(Matcher::toMatchResult)
                .toList();
        for (String order : OrderFlow.ORDERS) {
            List<MatchResult> ofOrder =
                    steps.stream().filter(step -> step.group(3).equals(order)).toList();
            assertThat(ofOrder.stream().map(step -> STEPS.indexOf(step.group(2))))
                    .as("a step is recorded before the next one begins, and not done again, in order " + order)
                    .isSorted();
            assertThat(ofOrder.stream().map(step -> step.group(1) + step.group(2)))
                    .as("no worker does a step twice, in order " + order)
                    .doesNotHaveDuplicates();
        }
    }

    private static void ensureEachStepHasItsRequest(List<String> lines) {
        assertThat(lines.stream().map(STEP::matcher).filter(Matcher::matches).map(Matcher::toMatchResult))
                .isNotEmpty()
                .allSatisfy(step -> assertThat(step.group(4)).isEqualTo(step.group(3)));
    }

    // The commands.

    private String commandOf(Class<?> program, String... arguments) throws IOException {
        return readme().commandOf(program, arguments);
    }

    private List<String> run(String command) throws IOException, InterruptedException {
        return readme().run(command);
    }

    private ReadmeCommands readme() {
        return new ReadmeCommands(Path.of("README.md"), ROOT, directory);
    }
}
