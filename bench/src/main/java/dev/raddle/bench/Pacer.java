package dev.raddle.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Submits at a steady rate, and records when each task started. The due time of each task is fixed beforehand: a late
 * pacer catches up and omits no task, so a stall affects all tasks that were due during it.
 *
 * <p>The pacer is the calling platform thread. It spins for the last {@value #SPIN_NANOS} ns before a task is due, and
 * parks before that, so its load of the processor does not depend on the executor. {@link #cpuNanosEach()} excludes
 * the CPU time of its waiting, but includes that of its submissions.
 */
final class Pacer {

    private static final long SPIN_NANOS = 200_000;
    private static final long GIVE_UP_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** A task that records when it started. */
    static final class Start implements Runnable, Callable<@Nullable Void> {
        private volatile long moment;

        @Override
        public void run() {
            moment = System.nanoTime();
        }

        @Override
        public @Nullable Void call() {
            run();
            return null;
        }
    }

    private final long intervalNanos;
    private final Start[] starts;
    private final long[] due;
    private final long[] submitted;
    private long cpuBefore; // of the process
    private long waiting; // CPU time of the pacer
    private long cpuNanos;

    Pacer(int perSecond, int tasks) {
        intervalNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
        starts = new Start[tasks];
        for (int i = 0; i < tasks; i++) {
            starts[i] = new Start();
        }
        due = new long[tasks];
        submitted = new long[tasks];
    }

    /** Submits all tasks, each when it is due. */
    void submitAll(Consumer<? super Start> submit) {
        long clockNanos = clockNanos();
        long begin = System.nanoTime() + SPIN_NANOS;
        cpuBefore = PROCESS.getProcessCpuTime();
        long threadBefore = THREADS.getCurrentThreadCpuTime();
        long submitting = 0;
        for (int i = 0; i < starts.length; i++) {
            due[i] = begin + i * intervalNanos;
            awaitMoment(due[i]);
            long before = THREADS.getCurrentThreadCpuTime();
            submitted[i] = System.nanoTime();
            submit.accept(starts[i]);
            submitting += THREADS.getCurrentThreadCpuTime() - before - clockNanos;
        }
        waiting = THREADS.getCurrentThreadCpuTime() - threadBefore - submitting;
    }

    private static void awaitMoment(long moment) {
        for (long left = moment - System.nanoTime(); left > 0; left = moment - System.nanoTime()) {
            if (left > SPIN_NANOS) {
                LockSupport.parkNanos(left - SPIN_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** Returns the CPU time of this thread between two consecutive readings of its clock. */
    private static long clockNanos() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10_000; i++) {
            long before = THREADS.getCurrentThreadCpuTime();
            least = Math.min(least, THREADS.getCurrentThreadCpuTime() - before);
        }
        return least;
    }

    /** Waits until every task has started. The results are available only afterwards. */
    void awaitStarts() {
        long begin = System.nanoTime();
        for (Start start : starts) {
            while (start.moment == 0) {
                if (System.nanoTime() - begin > GIVE_UP_NANOS) {
                    throw new IllegalStateException("a task had not started a minute after the last was submitted");
                }
                Flood.sleep(1);
            }
        }
        cpuNanos = PROCESS.getProcessCpuTime() - cpuBefore - waiting;
    }

    /** Returns the times from immediately before the submission of each task until it started. */
    Samples fromSubmit() {
        return startsSince(submitted);
    }

    /** Returns the times from the due time of each task until it started. */
    Samples fromDue() {
        return startsSince(due);
    }

    private Samples startsSince(long[] moments) {
        Samples samples = new Samples();
        for (int i = 0; i < starts.length; i++) {
            samples.add(starts[i].moment - moments[i]);
        }
        return samples;
    }

    /** Returns the CPU time of the process per task, excluding the waiting of the pacer. */
    double cpuNanosEach() {
        return (double) cpuNanos / starts.length;
    }
}
