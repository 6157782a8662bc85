package dev.raddle.checks;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/** The state of one key in a soak: the permits in use and the bounds for them. */
final class SoakKey {

    /** A period in which the group is certainly paused, while it is the key's current one and no eviction has begun. */
    private record Pause(long sinceNanos, int evictions) {}

    final String name;
    final int limit; // what the limit resolver returns
    final SoakBound bound;
    private final AtomicInteger executing = new AtomicInteger(); // permits
    private final AtomicInteger evictionsBegun = new AtomicInteger();
    private final AtomicInteger evictionsEnded = new AtomicInteger();
    private final AtomicInteger stopsBegun = new AtomicInteger();
    private final AtomicInteger stopsEnded = new AtomicInteger();
    private final AtomicIntegerArray lastOf; // the number of the last task of each driver that began
    private volatile Pause pause;

    SoakKey(String name, int limit, int drivers) {
        this.name = name;
        this.limit = limit;
        this.bound = new SoakBound(limit);
        this.lastOf = new AtomicIntegerArray(drivers);
    }

    /** Records that a task runs; returns a violation, or null. */
    String enter(SoakTask task, int slots) {
        int now = executing.addAndGet(slots);
        int most = bound.mostSince(task.submittedNanos);
        if (now > most) {
            return now + " permits taken by running tasks, the limit was " + most;
        }
        Pause paused = pause;
        if (paused != null
                && task.submittedNanos - paused.sinceNanos > 0
                && evictionsBegun.get() == paused.evictions
                && pause == paused) {
            return "began although the group was paused before it was submitted";
        }
        return null;
    }

    /** Records that a task begins in a group whose limit is always one; returns a violation of the order, or null. */
    String checkOrder(SoakTask task) {
        int last = lastOf.getAndSet(task.driver, task.number);
        return last > task.number ? "began after task " + last + " of the same submitter" : null;
    }

    void leave(int slots) {
        executing.addAndGet(-slots);
    }

    int executing() {
        return executing.get();
    }

    /** Pauses. Only one thread pauses and resumes. */
    void pause(Runnable action) {
        int ended = evictionsEnded.get();
        int begun = evictionsBegun.get();
        action.run();
        pause = begun == ended ? new Pause(System.nanoTime(), begun) : null;
    }

    void resume(Runnable action) {
        pause = null;
        action.run();
    }

    /** Evicts or shuts down, which also resumes. Any thread may call this. */
    void evict(boolean stops, Runnable action) {
        evictionsBegun.incrementAndGet();
        if (stops) {
            stopsBegun.incrementAndGet();
        }
        action.run();
        if (stops) {
            stopsEnded.incrementAndGet();
        }
        evictionsEnded.incrementAndGet();
    }

    /** Returns how often the tasks of this key have certainly been interrupted. */
    int pastStops() {
        return stopsEnded.get();
    }

    /** Returns whether tasks of this key may have been interrupted since {@link #pastStops} was read. */
    boolean mayHaveStoppedSince(int pastStops) {
        return stopsBegun.get() != pastStops;
    }
}
