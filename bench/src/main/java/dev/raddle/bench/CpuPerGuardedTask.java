package dev.raddle.bench;

import dev.raddle.group.CircuitBreaker;
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
 * What does a task with a closed circuit breaker cost in one of 64 groups with four permits each, against a bulkhead
 * with a circuit breaker of Resilience4j for each group? The window of both is the last 100 calls.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Batch.TASKS)
@Fork(
        value = 5,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class CpuPerGuardedTask {

    private static final int GROUPS = 64;
    private static final int LIMIT = 4;

    private final String[] keys = Batch.keys(GROUPS);
    private final GroupPolicy plain =
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT).build();
    private final GroupPolicy guarded = GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(LIMIT)
            .breaker(key -> CircuitBreaker.failureRate(0.5).over(100))
            .build();
    private final List<Callable<Void>> bulkheads = Batch.behindBreakers(Batch.behindBulkheads(GROUPS, LIMIT));

    /** With a breaker. */
    @Benchmark
    public void raddle() {
        Batch.onRaddle(guarded, keys);
    }

    /** Without a breaker. */
    @Benchmark
    public void none() {
        Batch.onRaddle(plain, keys);
    }

    /** A bulkhead and a breaker of Resilience4j. */
    @Benchmark
    public void bulkhead() {
        Batch.onBareThreads(bulkheads);
    }

    static List<Row> rows(Results results) {
        Row row = Row.of(
                "CPU of an empty task with a circuit breaker, 64 groups × 4",
                results.note(Measured.CPU, "CpuPerGuardedTask.raddle"),
                "ns");
        return List.of(
                row.against("bulkhead and breaker", results.note(Measured.CPU, "CpuPerGuardedTask.bulkhead"))
                        .ratioAtMost(1),
                row.against("without", results.note(Measured.CPU, "CpuPerGuardedTask.none")));
    }
}
