package dev.raddle.bench;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What does it cost to complete one of 30 000 tasks of a scope, in or against the order of submission? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(ScopeCompletionOrder.TASKS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ScopeCompletionOrder {

    static final int TASKS = 30_000;

    private static final Callable<String> EMPTY = () -> "done";

    /** Whether the task that was submitted last is completed first. */
    @Param({"false", "true"})
    public boolean reverse;

    private final List<Runnable> placed = new ArrayList<>(TASKS);
    private final List<Task<String>> tasks = new ArrayList<>(TASKS);
    private ThreadScope scope;

    /** Submits the tasks. */
    @Setup(Level.Invocation)
    public void submit() {
        placed.clear();
        tasks.clear();
        scope = ThreadScope.open().withScheduler(placed::add);
        for (int i = 0; i < TASKS; i++) {
            tasks.add(scope.submit(EMPTY));
        }
    }

    /** Completes the tasks. */
    @Benchmark
    public void complete() throws InterruptedException {
        (reverse ? placed.reversed() : placed).forEach(Runnable::run);
        scope.await(tasks);
    }

    /** Closes the scope. */
    @TearDown(Level.Invocation)
    public void close() {
        scope.close();
    }

    static List<Row> rows(Results results) {
        return List.of(Row.of("one of 30,000 tasks ends, the last one first", time(results, true), "ns")
                .against("the first one first", time(results, false))
                .ratioAtMost(2));
    }

    private static Stat time(Results results, boolean reverse) {
        return results.score("ScopeCompletionOrder.complete", "reverse=" + reverse);
    }
}
