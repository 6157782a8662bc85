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
 * What CPU time does an empty task cost in one of 64 groups with four permits each, compared with bare virtual
 * threads?
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
public class CpuPerTask {

    private static final int GROUPS = 64;
    private static final int LIMIT = 4;

    private final String[] keys = Batch.keys(GROUPS);
    private final List<Callable<Void>> empty = Batch.empty();
    private final List<Callable<Void>> semaphores = Batch.behindSemaphores(GROUPS, LIMIT);
    private final List<Callable<Void>> bulkheads = Batch.behindBulkheads(GROUPS, LIMIT);
    private final GroupPolicy policy =
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT).build();

    /** Raddle. */
    @Benchmark
    public void raddle() {
        Batch.onRaddle(policy, keys);
    }

    /** No limits. */
    @Benchmark
    public void bare() {
        Batch.onBareThreads(empty);
    }

    /** A semaphore for each group. */
    @Benchmark
    public void semaphore() {
        Batch.onBareThreads(semaphores);
    }

    /** A bulkhead of Resilience4j for each group. */
    @Benchmark
    public void bulkhead() {
        Batch.onBareThreads(bulkheads);
    }

    static List<Row> rows(Results results) {
        Row row = Row.of("CPU of an empty task, 64 groups × 4, fresh thread", cpu(results, "raddle"), "ns");
        return List.of(
                row.against("bare", cpu(results, "bare")).ratioAtMost(1.15),
                row.against("semaphore", cpu(results, "semaphore")),
                row.against("bulkhead", cpu(results, "bulkhead")).ratioAtMost(1));
    }

    private static Stat cpu(Results results, String method) {
        return results.note(Measured.CPU, "CpuPerTask." + method);
    }
}
