package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What CPU time does an empty task cost if the threads of 64 saturated groups go on with the next one, compared with
 * bare virtual threads, which are always new?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Batch.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class CpuPerReusingTask {

    private final String[] keys = Batch.keys(64);
    private final List<Callable<Void>> empty = Batch.empty();
    private final GroupPolicy policy = GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(4)
            .reuseThreads(true)
            .build();

    /** Raddle; all tasks wait before the first one starts. */
    @Benchmark
    public void saturated() {
        Batch.onSaturatedRaddle(policy, keys);
    }

    /**
     * Raddle; each task starts as soon as possible. A group that becomes empty needs a new thread for its next task.
     */
    @Benchmark
    public void flowing() {
        Batch.onRaddle(policy, keys);
    }

    /** No limits. */
    @Benchmark
    public void bare() {
        Batch.onBareThreads(empty);
    }

    static List<Row> rows(Results results) {
        Stat bare = cpu(results, "bare");
        return List.of(
                Row.of("CPU of an empty task, 64 saturated groups × 4, reuseThreads", cpu(results, "saturated"), "ns")
                        .against("bare", bare)
                        .ratioAtMost(0.7),
                Row.of("the same, submitted while they run", cpu(results, "flowing"), "ns")
                        .against("bare", bare));
    }

    private static Stat cpu(Results results, String method) {
        return results.note(Measured.CPU, "CpuPerReusingTask." + method);
    }
}
