package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Scheduler;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * How soon does a task of a quiet group start on a virtual thread while a noisy group burns CPU or pins carriers, on
 * virtual threads or on a pool of its own? There are two carriers, and two threads in the pool.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {
            Jvm.QUIET,
            Jvm.HEAP_START,
            Jvm.HEAP_MAX,
            Jvm.TWO_PROCESSORS,
            "--enable-native-access=ALL-UNNAMED" // for a sleep that pins the carrier
        })
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class PoolIsolation {

    private static final int THREADS = 2;
    private static final int LIMIT = 8;
    private static final int WAITING = 100; // in the noisy group
    private static final int TASK_MILLIS = 1;
    private static final int PER_SECOND = 1000;
    private static final String NOISY = "noisy";

    /** The work of the noisy group, and its threads. */
    public enum Noise {
        /** Nothing. */
        NONE,
        /** Burns CPU on virtual threads. */
        BURNS,
        /** Burns CPU on its pool. */
        BURNS_POOLED,
        /** Sleeps in native code on virtual threads. */
        PINS,
        /** Sleeps in native code on its pool. */
        PINS_POOLED
    }

    /** The work of the noisy group, and its threads. */
    @Param
    public Noise noise;

    /** The duration of the measurement. */
    @Param("4")
    public int seconds;

    /** Submits to the quiet group at a steady rate. */
    @Benchmark
    public void quiet() {
        try (ExecutorService pool = PoolPeer.RADDLE.open(THREADS)) {
            Scheduler own = Scheduler.from(pool);
            boolean isPooled = noise == Noise.BURNS_POOLED || noise == Noise.PINS_POOLED;
            try (KeyedExecutor executor = KeyedExecutor.raddle(GroupPolicy.builder()
                    .defaultMaxConcurrencyPerGroup(LIMIT)
                    .scheduler(key -> isPooled && key.equals(NOISY) ? own : Scheduler.virtualThreads())
                    .build())) {
                measure(executor);
            }
        }
    }

    private void measure(KeyedExecutor executor) {
        pace(executor, PER_SECOND).awaitStarts();
        Flood flood = new Flood(executor, NOISY, work());
        if (noise != Noise.NONE) {
            flood.begin(WAITING);
        }
        Flood.sleep(500);
        Pacer pacer = pace(executor, PER_SECOND * seconds);
        flood.end();
        pacer.awaitStarts();
        Measured.note("p99", pacer.fromSubmit().quantile(0.99) / 1e6, "ms");
        Measured.note("p50", pacer.fromSubmit().quantile(0.5) / 1e6, "ms");
    }

    private static Pacer pace(KeyedExecutor executor, int tasks) {
        Pacer pacer = new Pacer(PER_SECOND, tasks);
        pacer.submitAll(start -> executor.submit("quiet", start));
        return pacer;
    }

    private Runnable work() {
        if (noise == Noise.PINS || noise == Noise.PINS_POOLED) {
            MethodHandle usleep = usleep();
            return () -> pin(usleep);
        }
        long tokens = Work.tokens(TASK_MILLIS * 1_000_000L);
        return () -> Blackhole.consumeCPU(tokens);
    }

    @SuppressWarnings("restricted") // usleep takes an unsigned int, and no address
    private static MethodHandle usleep() {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow("usleep"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }

    private static void pin(MethodHandle usleep) {
        try {
            int ignored = (int) usleep.invokeExact(TASK_MILLIS * 1000);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static List<Row> rows(Results results) {
        String what = "p99 start in a quiet group beside one that ";
        return List.of(
                row(results, what + "burns CPU on its own pool", Noise.BURNS_POOLED)
                        .atMost(1),
                row(results, what + "burns CPU on virtual threads, until the run ends", Noise.BURNS),
                row(results, what + "pins threads of its own pool", Noise.PINS_POOLED)
                        .atMost(1),
                row(results, what + "pins carriers, until the run ends", Noise.PINS));
    }

    private static Row row(Results results, String what, Noise noise) {
        return Row.of(what, p99(results, noise), "ms").against("alone", p99(results, Noise.NONE));
    }

    private static Stat p99(Results results, Noise noise) {
        return results.note("p99", "PoolIsolation.quiet", "noise=" + noise);
    }
}
