package dev.raddle.bench;

import dev.raddle.scope.StructuredTaskScope;
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
 * What does a scope of n empty subtasks cost, from its opening to its closing, against the JDK's own scope and against bare
 * virtual threads with a latch? Divide by n for one subtask.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 6, time = 1)
public class StructuredForkJoin {

    private static final Callable<Object> EMPTY = () -> "done";

    /** How many subtasks. */
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

    /** The JDK's own scope. */
    @Benchmark
    public void jdk() throws Throwable {
        Object scope = JdkScopes.open();
        for (int i = 0; i < n; i++) {
            JdkScopes.fork(scope, EMPTY);
        }
        JdkScopes.join(scope);
        JdkScopes.close(scope);
    }

    /** No scope. */
    @Benchmark
    public void bare() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            Thread.startVirtualThread(ended::countDown);
        }
        ended.await();
    }
}
