package dev.raddle.bench;

import dev.raddle.group.AdaptiveLimit;
import dev.raddle.group.GroupPolicy;
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

/** What does the sampling for an adaptive limit that stays as it is cost in one of 64 groups with four permits each? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Batch.TASKS)
@Fork(
        value = 5,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class CpuPerSampledTask {

    private static final int GROUPS = 64;
    private static final int LIMIT = 4;

    private final String[] keys = Batch.keys(GROUPS);
    private final GroupPolicy fixed =
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(LIMIT).build();
    private final GroupPolicy adaptive = GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(LIMIT)
            .adaptiveLimit(
                    key -> AdaptiveLimit.custom(sample -> LIMIT).initial(LIMIT).max(LIMIT))
            .build();

    /** With an adaptive limit. */
    @Benchmark
    public void adaptive() {
        Batch.onRaddle(adaptive, keys);
    }

    /** With a fixed limit. */
    @Benchmark
    public void fixed() {
        Batch.onRaddle(fixed, keys);
    }

    static List<Row> rows(Results results) {
        Stat none = results.note(Measured.CPU, "CpuPerSampledTask.fixed");
        Row row = Row.of(
                "CPU of an empty task with an adaptive limit, 64 groups × 4",
                results.note(Measured.CPU, "CpuPerSampledTask.adaptive"),
                "ns");
        return List.of(row.against("fixed", none).atMost(Math.ceil(none.median()) + 20));
    }
}
