package dev.raddle.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How soon does an empty task start, and what CPU time does it cost, when tasks arrive one by one at two otherwise idle
 * workers?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
public class PoolPaced {

    private static final int WARM_UP_PER_SECOND = 100_000;
    private static final int WARM_UP_TASKS = 50_000;
    private static final List<PoolPeer> PEERS = List.of(PoolPeer.LINKED, PoolPeer.FORK_JOIN, PoolPeer.VIRTUAL);

    /** The pool. */
    @Param({"RADDLE", "LINKED", "FORK_JOIN", "VIRTUAL"})
    public PoolPeer peer;

    /** The number of tasks per second. */
    @Param({"10000", "100000"})
    public int perSecond;

    /** The duration of the measurement. */
    @Param("3")
    public int seconds;

    /** Warms up, submits at this rate for half a second, and then measures. */
    @Benchmark
    public void paced() {
        try (ExecutorService pool = peer.open(PoolBatch.WORKERS)) {
            pace(pool, WARM_UP_PER_SECOND, WARM_UP_TASKS);
            pace(pool, perSecond, perSecond / 2);
            Pacer pacer = pace(pool, perSecond, perSecond * seconds);
            Measured.note("p50", pacer.fromSubmit().quantile(0.5) / 1e3, "us");
            Measured.note("p99", pacer.fromSubmit().quantile(0.99) / 1e3, "us");
            Measured.note("p99-due", pacer.fromDue().quantile(0.99) / 1e3, "us");
            Measured.note(Measured.CPU, pacer.cpuNanosEach(), "ns/task");
        }
    }

    private static Pacer pace(ExecutorService pool, int perSecond, int tasks) {
        Pacer pacer = new Pacer(perSecond, tasks);
        pacer.submitAll(pool::execute);
        pacer.awaitStarts();
        return pacer;
    }

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String rate : List.of("10000", "100000")) {
            String at = " an empty task, " + Row.count(rate) + " per second";
            addRows(rows, results, "p50", rate, "p50 start of" + at, "µs", true);
            addRows(rows, results, "p99", rate, "p99 start of" + at, "µs", true);
            addRows(rows, results, "p99-due", rate, "p99 start, from the moment it was due, of" + at, "µs", false);
            addRows(rows, results, Measured.CPU, rate, "CPU of" + at, "ns", true);
        }
        return rows;
    }

    private static void addRows(
            List<Row> rows, Results results, String label, String rate, String what, String unit, boolean isGoal) {
        Stat measured = note(results, label, PoolPeer.RADDLE, rate);
        for (PoolPeer peer : PEERS) {
            Row row = Row.of(what, measured, unit).against(peer.label(), note(results, label, peer, rate));
            rows.add(isGoal ? row.ratioAtMost(1) : row);
        }
    }

    private static Stat note(Results results, String label, PoolPeer peer, String rate) {
        return results.note(label, "PoolPaced.paced", PoolRows.with(peer, "perSecond=" + rate));
    }
}
