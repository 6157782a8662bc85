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
import java.util.concurrent.CountDownLatch;
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
 * How much of a processor and of the heap does a console take without an open page? How much of a processor while five
 * pages look at 1,000 active groups? How much of its throughput does a program keep whose tasks have one processor,
 * while 500 pages look? Three times each is measured without the console or the pages, and then with them. The pages
 * are in another JVM, whose CPU time does not count. The five have a processor of their own; if the machine has none
 * for them, there is no answer.
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
    private static final int WARM_UP = 4;
    private static final int LONG = 4; // the CPU time of a process is known to a hundredth of a second
    private static final int FEW = 5;
    private static final int MANY = 500;
    private static final String SHARE = "share";
    private static final String KEPT = "kept";
    private static final String HEAP = "heap";
    private static final String APART = "apart";

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

    /** Each group has a running and a waiting task, which do not end; another console watches the groups. */
    @Benchmark
    public void unwatched() throws IOException, InterruptedException {
        console.close();
        CountDownLatch end = new CountDownLatch(1);
        for (String key : keys) {
            for (int i = 0; i < 2; i++) {
                executor.submit(key, () -> {
                    end.await();
                    return null;
                });
            }
        }
        try (Console watching = watching();
                ConsolePages _ = new ConsolePages(watching.uri(), FEW, false)) { // warms up: samples come more often
            for (int i = 0; i < WARM_UP; i++) {
                part();
            }
        }
        double share = 0;
        double heap = 0;
        for (int round = 0; round < ROUNDS; round++) {
            double without = part(LONG).cpuShare;
            long base = Heap.alive(executor);
            try (Console watching = watching()) {
                share += (part(LONG).cpuShare - without) / ROUNDS;
                heap += (double) (Heap.alive(executor, watching) - base) / ROUNDS;
            }
        }
        end.countDown();
        Measured.note(SHARE, 100 * share, "%");
        Measured.note(HEAP, heap / 1_000, "kB");
    }

    private Console watching() {
        Console watching = Console.start(ConsoleOptions.defaults().withPort(0));
        watching.watch("bench", executor);
        return watching;
    }

    /** Each group always has a running and a waiting task, of a fifth of a second. */
    @Benchmark
    public void active() throws IOException, InterruptedException {
        boolean areApart = ConsolePages.takeOneProcessorFromThisProcess();
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
            share += (with(FEW, areApart).cpuShare - without) / ROUNDS;
        }
        Measured.note(SHARE, 100 * share, "%");
        Measured.note(APART, areApart ? 1 : 0, "");
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
            Part with = with(MANY, false);
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

    private Part with(int pages, boolean areApart) throws IOException, InterruptedException {
        try (ConsolePages _ = new ConsolePages(console.uri(), pages, areApart)) {
            return part();
        }
    }

    private Part part() throws InterruptedException {
        return part(1);
    }

    private Part part(int times) throws InterruptedException {
        long begin = System.nanoTime();
        long cpu = process.getProcessCpuTime();
        long before = tasks.sum();
        TimeUnit.SECONDS.sleep((long) times * seconds);
        double cpuNanos = process.getProcessCpuTime() - cpu;
        double nanos = System.nanoTime() - begin;
        return new Part(cpuNanos / nanos, 1e9 * (tasks.sum() - before) / nanos);
    }

    static List<Row> rows(Results results) {
        String few = "of one processor, 5 pages, 1,000 active groups";
        boolean areApart = results.note(APART, "ConsoleCost.active").smallest() > 0;
        return List.of(
                Row.of("of one processor, no page, 1,000 waiting groups", share(results, "unwatched"), "%")
                        .atMost(0.2),
                Row.of("heap of the console, no page", results.note(HEAP, "ConsoleCost.unwatched"), "kB")
                        .atMost(200),
                areApart
                        ? Row.of(few, share(results, "active"), "%").atMost(3)
                        : Row.skipped(few, "cannot tell: the pages have no processor of their own"),
                Row.of("throughput that 500 pages leave", results.note(KEPT, "ConsoleCost.busy"), "")
                        .atLeast(0.95),
                Row.of("of one processor, 500 pages", share(results, "busy"), "%"));
    }

    private static Stat share(Results results, String method) {
        return results.note(SHARE, "ConsoleCost." + method);
    }
}
