package dev.raddle.bench;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.time.Duration;
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
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does it cost to submit an empty task to a scope and to await it, compared with the JDK's scope? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.PREVIEW, Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ScopeSubmitAwait {

    private static final Callable<String> EMPTY = () -> "done";
    private static final Duration LONG = Duration.ofMinutes(1);

    /** The number of tasks of a scope. */
    @Param({"1", "10", "100", "10000"})
    public int tasks;

    private Object joxBody;

    /** Raddle. */
    @Benchmark
    public void raddle() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open()) {
            submitAndAwait(scope);
        }
    }

    /** Raddle, with a deadline that does not pass. */
    @Benchmark
    public void raddleWithDeadline() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open().withDeadline(LONG)) {
            submitAndAwait(scope);
        }
    }

    private void submitAndAwait(ThreadScope scope) throws InterruptedException {
        List<Task<String>> all = new ArrayList<>(tasks);
        for (int i = 0; i < tasks; i++) {
            all.add(scope.submit(EMPTY));
        }
        scope.await(all);
    }

    /** The JDK's scope. */
    @Benchmark
    public void jdk() throws Throwable {
        JdkScopes.run(EMPTY, tasks);
    }

    /** Prepares objects whose creation is not measured. */
    @Setup
    public void prepare() {
        joxBody = JoxScopes.body(EMPTY, tasks);
    }

    /** A scope of Jox. */
    @Benchmark
    public void jox() throws Throwable {
        JoxScopes.run(joxBody);
    }

    /** Threads and a latch instead of a scope. */
    @Benchmark
    public void bare() throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            Thread.startVirtualThread(latch::countDown);
        }
        latch.await();
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (int n : new int[] {1, 10, 100, 10_000}) {
            String tasks = n == 1 ? "one task" : Row.count(Integer.toString(n)) + " tasks";
            Row row =
                    Row.of("CPU of an empty task in a scope, " + tasks, per(results, Measured.CPU, "raddle", n), "ns");
            rows.add(row.against("JDK's scope", per(results, Measured.CPU, "jdk", n))
                    .ratioAtMost(n == 10_000 ? 1.2 : 1.5));
            rows.add(row.against("Jox", per(results, Measured.CPU, "jox", n)));
            rows.add(Row.of("the same, with a deadline", per(results, Measured.CPU, "raddleWithDeadline", n), "ns")
                    .against("without", per(results, Measured.CPU, "raddle", n))
                    .ratioAtMost(1.1));
            rows.add(Row.of("allocated for it", per(results, Measured.ALLOCATED, "raddle", n), "B")
                    .against("JDK's scope", per(results, Measured.ALLOCATED, "jdk", n))
                    .atMost(n == 1 ? 1_148 : 700));
        }
        return rows;
    }

    private static Stat per(Results results, String label, String method, int tasks) {
        return results.note(label, "ScopeSubmitAwait." + method, "tasks=" + tasks)
                .times(1.0 / tasks);
    }
}
