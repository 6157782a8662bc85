package dev.raddle.checks;

import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.TaskStatus;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A task of a soak. It checks when it begins that it may run, and afterwards that it ended as planned. */
final class SoakTask implements Callable<Integer> {

    /** The behaviour of a task. */
    enum Kind {
        RETURNS,
        YIELDS,
        WAITS,
        THROWS,
        THROWS_ERROR
    }

    private static final class Planned extends Exception {}

    private static final class PlannedError extends Error {}

    final SoakKey key;
    final Kind kind;
    final int driver;
    final int number; // of the task among those of its driver
    final long submittedNanos = System.nanoTime();
    final CountDownLatch latch;
    private final Soak soak;
    private final int slots;
    private final boolean ordered;
    private final int stopsBefore;
    private final AtomicInteger begins = new AtomicInteger();
    private volatile boolean cancelling; // a cancellation with an interrupt has begun
    private volatile boolean barred; // it has been cancelled or rejected, so it must not begin

    SoakTask(Soak soak, SoakKey key, Kind kind, int slots, boolean ordered, int driver, int number) {
        this.soak = soak;
        this.key = key;
        this.kind = kind;
        this.slots = slots;
        this.ordered = ordered;
        this.driver = driver;
        this.number = number;
        this.stopsBefore = key.pastStops();
        this.latch = kind == Kind.WAITS ? new CountDownLatch(1) : null;
    }

    @Override
    public Integer call() throws Exception {
        check(begins.getAndIncrement() == 0, "began twice");
        check(!barred, "began after it had been cancelled or rejected");
        boolean tooLate = soak.isShutdown();
        boolean interrupted = Thread.currentThread().isInterrupted();
        check(!tooLate || interrupted, "began after the shutdown had returned, and was not interrupted");
        check(!interrupted || mayBeInterrupted(), "began with the interrupt of another task");
        check(key.enter(this, slots));
        check(soak.enter(this, slots));
        try {
            if (ordered) {
                check(key.checkOrder(this));
            }
            return act();
        } finally {
            soak.leave(slots);
            key.leave(slots);
        }
    }

    private Integer act() throws Exception {
        switch (kind) {
            case RETURNS -> {}
            case YIELDS -> Thread.yield();
            case WAITS -> latch.await();
            case THROWS -> throw new Planned();
            case THROWS_ERROR -> throw new PlannedError();
        }
        return number;
    }

    private boolean mayBeInterrupted() {
        return cancelling || key.mayHaveStoppedSince(stopsBefore) || soak.isShuttingDown();
    }

    void cancel(TaskHandle<Integer> handle, boolean mayInterrupt) {
        cancelling |= mayInterrupt;
        if (handle.cancel(mayInterrupt) && !mayInterrupt) {
            barred = true;
            check(begins.get() == 0, "had begun although cancel(false) was true");
        }
    }

    /** Checks the end of the task against its plan; returns its status. */
    TaskStatus end(GroupResult<Integer> result) {
        TaskStatus status = result.status();
        barred |= status == TaskStatus.REJECTED;
        int began = begins.get();
        boolean asPlanned = switch (status) {
            case SUCCESS -> began == 1 && result.value() == number && kind.compareTo(Kind.THROWS) < 0;
            case FAILED -> began == 1 && (result.error() instanceof Planned || result.error() instanceof PlannedError);
            case CANCELLED -> began <= 1 && (cancelling || barred || mayBeInterrupted());
            case REJECTED -> began == 0;
            case SKIPPED -> false;
        };
        check(asPlanned, "began " + began + " times and ended as " + result);
        return status;
    }

    private void check(boolean condition, String violation) {
        check(condition ? null : violation);
    }

    private void check(String violation) {
        if (violation != null) {
            soak.report(this + " " + violation);
        }
    }

    @Override
    public String toString() {
        return "task " + number + " of driver " + driver + " in " + key.name + " (" + kind + ")";
    }
}
