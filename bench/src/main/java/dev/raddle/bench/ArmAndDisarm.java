package dev.raddle.bench;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does it cost to arm an alarm and cancel it before it fires, while others are armed, compared with the timers of
 * the JDK?
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET, Jvm.HEAP_START, Jvm.HEAP_MAX, Jvm.TOUCHED, Jvm.TWO_PROCESSORS})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
public class ArmAndDisarm {

    private static final long TIMEOUT_MILLIS = 5000;
    private static final long LONG_MILLIS = 3_600_000;

    /** The implementations. */
    public enum Peer {
        /** The alarms of the system time source. */
        RADDLE {
            @Override
            Object arm(Timers timers, long millis) {
                return TimeSource.system().after(Duration.ofMillis(millis), ArmAndDisarm::nothing);
            }

            @Override
            boolean disarm(Object armed) {
                return ((Alarm) armed).cancel();
            }
        },
        /** A future with a timeout. */
        OR_TIMEOUT {
            @Override
            @SuppressWarnings("FutureReturnValueIgnored") // it is returned
            Object arm(Timers timers, long millis) {
                return new CompletableFuture<Void>().orTimeout(millis, TimeUnit.MILLISECONDS);
            }

            @Override
            boolean disarm(Object armed) {
                return ((Future<?>) armed).cancel(false);
            }
        },
        /** A scheduled pool of one thread that removes cancelled tasks. */
        SCHEDULED {
            @Override
            @SuppressWarnings("FutureReturnValueIgnored") // it is returned
            Object arm(Timers timers, long millis) {
                return timers.pool.schedule(ArmAndDisarm::nothing, millis, TimeUnit.MILLISECONDS);
            }

            @Override
            boolean disarm(Object armed) {
                return ((Future<?>) armed).cancel(false);
            }
        };

        abstract Object arm(Timers timers, long millis);

        abstract boolean disarm(Object armed);
    }

    /** Timers that have to be started and shut down. */
    static final class Timers implements AutoCloseable {
        private final ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);

        Timers() {
            pool.setRemoveOnCancelPolicy(true);
        }

        @Override
        public void close() {
            pool.shutdownNow();
        }
    }

    /** The implementation. */
    @Param({"RADDLE", "OR_TIMEOUT", "SCHEDULED"})
    public Peer peer;

    /** The number of other armed alarms, which would fire after more than an hour. */
    @Param({"0", "100000"})
    public int others;

    private final Timers timers = new Timers();
    private final List<Object> armed = new ArrayList<>();

    /** Arms the others. */
    @Setup(Level.Trial)
    public void arm() {
        for (int i = 0; i < others; i++) {
            armed.add(peer.arm(timers, LONG_MILLIS + 7L * i));
        }
    }

    /** Cancels the others. */
    @TearDown(Level.Trial)
    public void disarm() {
        armed.forEach(peer::disarm);
        timers.close();
    }

    /** One thread. */
    @Benchmark
    public boolean alone() {
        return peer.disarm(peer.arm(timers, TIMEOUT_MILLIS));
    }

    /** Two threads, each with its own alarms. */
    @Benchmark
    @Threads(2)
    public boolean two() {
        return peer.disarm(peer.arm(timers, TIMEOUT_MILLIS));
    }

    private static void nothing() {}

    static List<Row> rows(Results results) {
        List<Row> rows = new ArrayList<>();
        for (String others : List.of("0", "100000")) {
            String beside = "arming and disarming an alarm, " + Row.count(others) + " others";
            rows.add(Row.of(beside, time(results, "alone", Peer.RADDLE, others), "ns")
                    .against("scheduled pool", time(results, "alone", Peer.SCHEDULED, others))
                    .atMost(100));
            rows.add(Row.of(beside + ", two threads", time(results, "two", Peer.RADDLE, others), "ns")
                    .against("orTimeout", time(results, "two", Peer.OR_TIMEOUT, others)));
        }
        return rows;
    }

    private static Stat time(Results results, String method, Peer peer, String others) {
        return results.score("ArmAndDisarm." + method, "peer=" + peer, "others=" + others);
    }
}
