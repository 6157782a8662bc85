package dev.raddle.bench;

import dev.raddle.scope.StructuredTaskScope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a scope of n empty subtasks cost, from open to close, compared with the JDK's scope and with bare virtual
 * threads and a latch? Divide by n for one subtask.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class StructuredForkJoin {

    private static final Callable<Object> EMPTY = () -> "done";

    /** The number of subtasks. */
    @Param({"1", "10", "100", "10000"})
    public int n;

    /** Raddle. */
    @Benchmark
    public void raddle() throws InterruptedException {
        try (var scope = new StructuredTaskScope<Object>()) {
            for (int i = 0; i < n; i++) {
                scope.fork(EMPTY);
            }
            scope.join();
        }
    }

    /** The JDK's scope. */
    @Benchmark
    public void jdk() throws Throwable {
        JdkScopes.run(EMPTY, n);
    }

    /** Raddle, with one carrier. */
    @Benchmark
    @Fork(
            value = 3,
            jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.ONE_CARRIER})
    public void raddleOnOneCarrier() throws InterruptedException {
        raddle();
    }

    /** The JDK's scope, with one carrier. */
    @Benchmark
    @Fork(
            value = 3,
            jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.ONE_CARRIER})
    public void jdkOnOneCarrier() throws Throwable {
        jdk();
    }

    /** Threads and a latch instead of a scope. */
    @Benchmark
    public void bare() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Thread.startVirtualThread(ended::countDown);
        }
        ended.await();
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (int n : new int[] {1, 10, 100, 10_000}) {
            String subtasks = n == 1 ? "one empty subtask" : Row.count(Integer.toString(n)) + " empty subtasks";
            Stat jdkBytes = per(results, Measured.ALLOCATED, "jdk", n);
            Stat bytes = per(results, Measured.ALLOCATED, "raddle", n);
            Row row = Row.of("CPU of a subtask, " + subtasks, per(results, Measured.CPU, "raddle", n), "ns");
            rows.add(row.against("JDK's scope", per(results, Measured.CPU, "jdk", n))
                    .ratioAtMost(n == 1 ? 1.25 : 1.15));
            rows.add(row.against("threads and a latch", per(results, Measured.CPU, "bare", n)));
            rows.add(Row.of("the same, one carrier", per(results, Measured.CPU, "raddleOnOneCarrier", n), "ns")
                    .against("JDK's scope", per(results, Measured.CPU, "jdkOnOneCarrier", n))
                    .ratioAtMost(n == 1 ? 1.25 : 1.15));
            rows.add(Row.of("allocated for it", bytes, "B")
                    .against("JDK's scope", jdkBytes)
                    .atMost(Math.floor(jdkBytes.median()) + 100));
        }
        return rows;
    }

    private static Stat per(Results results, String label, String method, int n) {
        return results.note(label, "StructuredForkJoin." + method, "n=" + n).times(1.0 / n);
    }
}
