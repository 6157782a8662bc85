package dev.raddle.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much of a processor does a console take while five pages look at 1,000 active groups? How much of its throughput
 * does a program keep whose tasks have one processor, while 500 pages look? Three times each is measured without pages
 * and then with them. The pages are in another JVM, whose CPU time does not count.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class ConsoleCost {

    private static final int GROUPS = 1_000;
    private static final int ROUNDS = 3;
    private static final int FEW = 5;
    private static final int MANY = 500;
    private static final String SHARE = "share";
    private static final String KEPT = "kept";

    /** The length of each part. */
    @Param("5")
    public int seconds;

    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final String[] keys = Batch.keys(GROUPS);
    private final LongAdder tasks = new LongAdder();
    private final ExecutorService submitters = Executors.newVirtualThreadPerTaskExecutor();
    private Console console;
    private GroupExecutor executor;

    /** The share of a processor that this JVM took in a part, and its throughput. */
    private record Part(double cpuShare, double tasksPerSecond) {}

    /** Starts a console. */
    @Setup(Level.Trial)
    public void open() {
        console = Console.start(ConsoleOptions.defaults().withClients(MANY));
        executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .addListener(console.listener("bench"))
                .build());
        console.watch("bench", executor);
    }

    /** Stops it. */
    @TearDown(Level.Trial)
    public void close() {
        submitters.close(); // each thread ends after its task
        executor.close();
        console.close();
    }

    /** Each group always has a running and a waiting task, of a fifth of a second. */
    @Benchmark
    public void active() throws IOException, InterruptedException {
        for (String key : keys) {
            for (int i = 0; i < 2; i++) {
                submit(key, () -> {
                    Thread.sleep(200);
                    return null;
                });
            }
        }
        double share = 0;
        for (int round = 0; round < ROUNDS; round++) {
            double without = part().cpuShare;
            share += (with(FEW).cpuShare - without) / ROUNDS;
        }
        Measured.note(SHARE, 100 * share, "%");
    }

    /** Each group runs one empty task after another. */
    @Benchmark
    @Fork(
            value = 3,
            jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.ONE_CARRIER})
    public void busy() throws IOException, InterruptedException {
        for (String key : keys) {
            submit(key, () -> null);
        }
        part(); // warms up
        double kept = 0;
        double share = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Part without = part();
            Part with = with(MANY);
            kept += with.tasksPerSecond / without.tasksPerSecond / ROUNDS;
            share += (with.cpuShare - without.cpuShare) / ROUNDS;
        }
        Measured.note(KEPT, kept, "");
        Measured.note(SHARE, 100 * share, "%");
    }

    /** Lets a thread submit a task, wait for its end, and begin again. */
    private void submit(String key, Callable<Void> task) {
        submitters.execute(() -> {
            while (!submitters.isShutdown()) {
                executor.submit(key, task).join();
                tasks.increment();
            }
        });
    }

    private Part with(int pages) throws IOException, InterruptedException {
        try (ConsolePages _ = new ConsolePages(console.uri(), pages)) {
            return part();
        }
    }

    private Part part() throws InterruptedException {
        long begin = System.nanoTime();
        long cpu = process.getProcessCpuTime();
        long before = tasks.sum();
        TimeUnit.SECONDS.sleep(seconds);
        double cpuNanos = process.getProcessCpuTime() - cpu;
        double nanos = System.nanoTime() - begin;
        return new Part(cpuNanos / nanos, 1e9 * (tasks.sum() - before) / nanos);
    }

    static List<Row> rows(Results results) {
        return List.of(
                share("5 pages, 1,000 active groups", results, "active").atMost(3),
                Row.of("throughput that 500 pages leave", results.note(KEPT, "ConsoleCost.busy"), "")
                        .atLeast(0.95),
                share("500 pages", results, "busy"));
    }

    private static Row share(String what, Results results, String method) {
        return Row.of("of one processor, " + what, results.note(SHARE, "ConsoleCost." + method), "%");
    }
}
