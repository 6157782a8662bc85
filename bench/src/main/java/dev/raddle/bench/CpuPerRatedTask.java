package dev.raddle.bench;

import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.List;
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

/** What does a rate that never delays a task cost in one of 64 groups with four permits each? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Batch.TASKS)
@Fork(
        value = 5,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class CpuPerRatedTask {

    private static final int GROUPS = 64;
    private static final int LIMIT = 4;

    private final String[] keys = Batch.keys(GROUPS);
    private final GroupPolicy unlimited =
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT).build();
    private final GroupPolicy rated = GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(LIMIT)
            .defaultRatePerGroup(Rate.perSecond(700_000_000))
            .build();

    private final GroupPolicy strict = GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(LIMIT)
            .defaultRatePerGroup(Rate.of(10_000, Duration.ofMillis(1)).strict())
            .build();

    /** With a strict rate. */
    @Benchmark
    public void strict() {
        Batch.onRaddle(strict, keys);
    }

    /** With a rate. */
    @Benchmark
    public void rate() {
        Batch.onRaddle(rated, keys);
    }

    /** Without a rate. */
    @Benchmark
    public void none() {
        Batch.onRaddle(unlimited, keys);
    }

    static List<Row> rows(Results results) {
        Stat none = results.note(Measured.CPU, "CpuPerRatedTask.none");
        Row row = Row.of(
                "CPU of an empty task with a rate, 64 groups × 4",
                results.note(Measured.CPU, "CpuPerRatedTask.rate"),
                "ns");
        Row strict = Row.of(
                "CPU of an empty task with a strict rate, 64 groups × 4",
                results.note(Measured.CPU, "CpuPerRatedTask.strict"),
                "ns");
        double most = Math.ceil(none.median()) + 15;
        return List.of(
                row.against("without", none).atMost(most),
                strict.against("without", none).atMost(most));
    }
}
