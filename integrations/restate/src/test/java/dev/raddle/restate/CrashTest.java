package dev.raddle.restate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.Await;
import dev.raddle.processes.WorkerJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@RestateTest
class CrashTest {
    private static final int RUNS = 8;

    /** One run for each connection, so that the proxy spreads the runs over the workers. */
    private static final Map<String, String> ONE_STREAM =
            Map.of("RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT", "1");

    @Test
    void flows_of_a_killed_worker_continue_on_another_without_repeating_stored_nodes(
            EngineBinary binary, @TempDir Path directory) throws IOException {
        try (WorkerJvm first = CrashWorker.start(directory);
                WorkerJvm second = CrashWorker.start(directory);
                Engine engine = Engine.start(binary.path(), ONE_STREAM);
                Proxy proxy = new Proxy(CrashWorker.portOf(first), CrashWorker.portOf(second))) {
            engine.register(proxy.port());
            submit(engine);
            awaitCalls(directory, "c", RUNS);
            assertThat(processesOf(directory, "c")).containsExactlyInAnyOrder(first.pid(), second.pid());

            first.kill();
            Files.createFile(CrashWorker.gate(directory));

            ensureAllEnd(engine);
            ensureStoredNodesRanOnce(directory);
            assertThat(count(directory, "c")).isBetween(RUNS + 1L, 2L * RUNS);
        }
    }

    @Test
    void flows_continue_after_both_the_engine_and_the_only_worker_were_killed(
            EngineBinary binary, @TempDir Path directory) throws IOException {
        try (WorkerJvm first = CrashWorker.start(directory);
                Engine engine = Engine.start(binary.path(), Map.of());
                Proxy proxy = new Proxy(CrashWorker.portOf(first))) {
            engine.register(proxy.port());
            submit(engine);
            awaitCalls(directory, "c", RUNS);

            engine.kill();
            first.kill();
            try (WorkerJvm second = CrashWorker.start(directory)) {
                proxy.target(CrashWorker.portOf(second));
                engine.restart();
                Files.createFile(CrashWorker.gate(directory));
                ensureAllEnd(engine);
            }
            ensureStoredNodesRanOnce(directory);
        }
    }

    @Test
    void flows_continue_after_the_engine_was_killed_under_a_worker_that_lives(
            EngineBinary binary, @TempDir Path directory) throws IOException {
        try (WorkerJvm worker = CrashWorker.start(directory);
                Engine engine = Engine.start(binary.path(), Map.of())) {
            engine.register(CrashWorker.portOf(worker));
            submit(engine);
            awaitCalls(directory, "c", RUNS);

            engine.kill();
            engine.restart();
            awaitCalls(directory, "c", 2 * RUNS); // each has begun again
            Files.createFile(CrashWorker.gate(directory));

            ensureAllEnd(engine);
            ensureStoredNodesRanOnce(directory);
        }
    }

    private static void submit(Engine engine) {
        runs().forEach(run -> engine.submit(CrashWorker.SERVICE, run, run.getBytes(StandardCharsets.UTF_8)));
    }

    private static List<String> runs() {
        return IntStream.range(0, RUNS).mapToObj(i -> "r" + i).toList();
    }

    private static void ensureAllEnd(Engine engine) {
        for (String run : runs()) {
            assertThat(new String(engine.attach(CrashWorker.SERVICE, run).value(), StandardCharsets.UTF_8))
                    .isEqualTo(run + ": abcd");
        }
    }

    /** The nodes a and b have certainly been stored before c began. */
    private static void ensureStoredNodesRanOnce(Path directory) {
        assertThat(count(directory, "a")).isEqualTo(RUNS);
        assertThat(count(directory, "b")).isEqualTo(RUNS);
    }

    private static void awaitCalls(Path directory, String node, int calls) {
        Await.until(calls + " calls of " + node + " have begun", () -> count(directory, node) >= calls);
    }

    private static long count(Path directory, String node) {
        return CrashWorker.calls(directory).stream()
                .filter(line -> line.split(" ")[1].equals(node))
                .count();
    }

    private static Set<Long> processesOf(Path directory, String node) {
        return CrashWorker.calls(directory).stream()
                .map(line -> line.split(" "))
                .filter(words -> words[1].equals(node))
                .map(words -> Long.valueOf(words[2]))
                .collect(Collectors.toSet());
    }
}
