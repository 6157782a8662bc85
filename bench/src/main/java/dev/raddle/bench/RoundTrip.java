package dev.raddle.bench;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does it take to submit an empty task to an idle group and await its result, compared with bare virtual
 * threads?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(RoundTrip.TRIPS)
@Fork(
        value = 5,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
public class RoundTrip {

    static final int TRIPS = 1000;

    private static final Callable<String> EMPTY = () -> "done";

    /** The kind of thread that waits for the result. */
    @Param({"platform", "virtual"})
    public String caller;

    private final GroupExecutor raddle =
            GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build());
    private final ExecutorService bare = Executors.newVirtualThreadPerTaskExecutor();

    /** Closes both executors. */
    @TearDown
    public void close() {
        raddle.close();
        bare.close();
    }

    /** Raddle. */
    @Benchmark
    public String raddle() throws Exception {
        return inCaller(() -> raddle.submit("group", "task", EMPTY).await().value());
    }

    /** No limits. */
    @Benchmark
    public String bare() throws Exception {
        return inCaller(() -> bare.submit(EMPTY).get());
    }

    private String inCaller(Callable<String> trip) throws Exception {
        if (caller.equals("platform")) {
            return many(trip);
        }
        String[] last = new String[1];
        Thread.ofVirtual().start(() -> last[0] = unchecked(trip)).join();
        return last[0];
    }

    private static String many(Callable<String> trip) throws Exception {
        String last = "";
        for (int i = 0; i < TRIPS; i++) {
            last = trip.call();
        }
        return last;
    }

    private static String unchecked(Callable<String> trip) {
        try {
            return many(trip);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    static List<Row> rows(Results results) {
        return List.of(row(results, "platform"), row(results, "virtual"));
    }

    private static Row row(Results results, String caller) {
        return Row.of(
                        "submit and await, idle group, " + caller + " caller",
                        results.score("RoundTrip.raddle", "caller=" + caller),
                        "ns")
                .against("bare", results.score("RoundTrip.bare", "caller=" + caller))
                .ratioAtMost(1.0);
    }
}
