package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.testing.BlockingTask;
import dev.raddle.time.Alarm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The drain of pools at the exit of a JVM, observed from another process. */
class ExitHookTest {

    /** A program that exits while its pools have tasks. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            ThreadPool feeder = pool("feeder");
            ThreadPool fed = pool("fed");
            BlockingTask stubborn = BlockingTask.uninterruptible();
            List<ThreadPool> both = List.of(feeder, fed);
            Duration grace = arguments[0].equals("stuck") ? Duration.ofMillis(1) : Duration.ofHours(1);
            Alarm hook = ThreadPool.drainOnExit(grace, Program::print, feeder, fed);
            if (arguments[0].equals("closed")) {
                hook.cancel();
                hook.cancel();
            } else if (arguments[0].equals("throwing")) {
                hook.cancel();
                hook = ThreadPool.drainOnExit(
                        grace,
                        report -> {
                            print(report);
                            throw new IllegalStateException("simulated");
                        },
                        feeder,
                        fed);
            } else if (arguments[0].equals("stuck")) {
                feeder.execute(stubborn);
                stubborn.awaitBegun();
            }
            for (ThreadPool pool : both) {
                pool.execute(() -> System.out.println("ran in " + pool.name()));
            }
            System.exit(7);
        }

        private static ThreadPool pool(String name) {
            return ThreadPool.builder(name)
                    .threads(1)
                    .stuckAfter(Duration.ofMillis(1))
                    .listener(new PoolListener() {})
                    .build();
        }

        private static void print(ShutdownReport report) {
            System.out.println(report.pool() + " " + report.terminated() + " " + report.accepted() + " "
                    + report.stillRunning().size());
        }
    }

    private static String location(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private static List<String> outputOf(String argument) throws Exception {
        String classPath = location(ThreadPool.class) + System.getProperty("path.separator") + location(Program.class);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        classPath,
                        Program.class.getName(),
                        argument)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            List<String> lines = lines(process);
            assertThat(process.waitFor()).isEqualTo(7);
            return lines;
        } finally {
            process.destroyForcibly();
        }
    }

    private static List<String> lines(Process process) throws IOException {
        try (var output = process.inputReader()) {
            return output.lines().toList();
        }
    }

    @Test
    void pools_are_drained_in_order_when_the_jvm_exits() throws Exception {
        assertThat(outputOf("all"))
                .containsExactlyInAnyOrder("ran in feeder", "ran in fed", "feeder true 1 0", "fed true 1 0")
                .containsSubsequence("ran in feeder", "feeder true 1 0", "fed true 1 0")
                .containsSubsequence("ran in fed", "fed true 1 0");
    }

    @Test
    void a_pool_that_does_not_terminate_does_not_prevent_the_exit_of_the_jvm() throws Exception {
        List<String> output = outputOf("stuck");

        assertThat(output).contains("feeder false 2 1");
        assertThat(output)
                .filteredOn(line -> line.startsWith("fed "))
                .singleElement()
                .asString()
                .as("its task may not have ended in time")
                .matches("fed (true|false) 1 [01]");
    }

    @Test
    void an_exception_of_the_report_consumer_does_not_prevent_the_drain_of_other_pools() throws Exception {
        assertThat(outputOf("throwing")).containsSubsequence("feeder true 1 0", "fed true 1 0");
    }

    @Test
    void a_removed_hook_drains_nothing() throws Exception {
        assertThat(outputOf("closed")).noneMatch(line -> line.startsWith("fe"));
    }

    @Test
    void a_hook_rejects_null_arguments() throws InterruptedException {
        ThreadPool pool = ThreadPool.builder("a").build();
        assertThatNullPointerException().isThrownBy(() -> ThreadPool.drainOnExit(null, report -> {}, pool));
        assertThatNullPointerException().isThrownBy(() -> ThreadPool.drainOnExit(Duration.ZERO, null, pool));
        assertThatNullPointerException()
                .isThrownBy(() -> ThreadPool.drainOnExit(Duration.ZERO, report -> {}, pool, null));
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
    }
}
