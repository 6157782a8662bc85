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

/** What CPU time does an empty task cost in a single group of one permit, compared with bare virtual threads? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Batch.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class CpuPerSerialTask {

    private final String[] keys = Batch.keys(1);
    private final List<Callable<Void>> empty = Batch.empty();
    private final List<Callable<Void>> semaphore = Batch.behindSemaphores(1, 1);
    private final List<Callable<Void>> bulkhead = Batch.behindBulkheads(1, 1);
    private final GroupPolicy policy = GroupPolicy.builder().build();
    private final GroupPolicy reusing = GroupPolicy.builder().reuseThreads(true).build();

    /** Raddle. */
    @Benchmark
    public void raddle() {
        Batch.onRaddle(policy, keys);
    }

    /** Raddle, with threads that go on with the next task. */
    @Benchmark
    public void raddleReusing() {
        Batch.onRaddle(reusing, keys);
    }

    /** No limits, so tasks run concurrently. */
    @Benchmark
    public void bare() {
        Batch.onBareThreads(empty);
    }

    /** No limits, but each thread starts the next one when it ends: one at a time, without a queue. */
    @Benchmark
    public void chain() throws InterruptedException {
        Batch.onChainOfThreads();
    }

    /** A semaphore with one permit. */
    @Benchmark
    public void semaphore() {
        Batch.onBareThreads(semaphore);
    }

    /** A bulkhead of Resilience4j for one call. */
    @Benchmark
    public void bulkhead() {
        Batch.onBareThreads(bulkhead);
    }

    static List<Row> rows(Results results) {
        Row row = Row.of("CPU of an empty task, one serial group, fresh thread", cpu(results, "raddle"), "ns");
        return List.of(
                row.against("bare threads, one after the other", cpu(results, "chain"))
                        .ratioAtMost(1.2),
                row.against("bare", cpu(results, "bare")),
                row.against("semaphore", cpu(results, "semaphore")),
                row.against("bulkhead", cpu(results, "bulkhead")).ratioAtMost(1.5),
                Row.of("the same, reuseThreads", cpu(results, "raddleReusing"), "ns")
                        .against("bulkhead", cpu(results, "bulkhead"))
                        .ratioAtMost(1));
    }

    private static Stat cpu(Results results, String method) {
        return results.note(Measured.CPU, "CpuPerSerialTask." + method);
    }
}
