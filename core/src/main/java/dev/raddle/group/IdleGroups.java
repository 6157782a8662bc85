package dev.raddle.group;

import dev.raddle.time.Deadline;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The list of idle groups, which limits their number and the time for which they are kept.
 *
 * <p>The list is a stack, linked through the groups. A group is pushed when it becomes idle, and stays when it becomes
 * busy again, so a group that alternates between the two causes no work here. A sweep takes the whole stack, removes
 * the groups that have been idle long enough, unlists the busy ones, and pushes the others again. So there are never
 * more idle groups than listed ones, which are counted. At most one alarm is pending, and only while the list is not
 * empty. It only has the sweep made elsewhere, a portion at a time, so that other decisions do not wait for long.
 */
final class IdleGroups implements Runnable {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private static final int PORTION = 256; // groups

    private final GroupEngine engine;
    private final int ttlMillis;
    private final int max;
    private final AtomicReference<@Nullable Group> top = new AtomicReference<>();
    private final AtomicInteger listed = new AtomicInteger();
    private final AtomicReference<@Nullable GroupAlarm> alarm = new AtomicReference<>();
    private volatile boolean closed;

    IdleGroups(GroupEngine engine) {
        this.engine = engine;
        long ttlNanos = Deadline.nanos(engine.policy.idleGroupTtl());
        this.ttlMillis = (int) Math.min(Math.ceilDiv(ttlNanos, NANOS_PER_MILLI), Integer.MAX_VALUE / 2);
        this.max = ttlMillis == 0 ? 0 : engine.policy.maxIdleGroups();
    }

    /** Returns whether a group that has been idle since some moment has been idle long enough. */
    boolean hasPassed(long since, long now) {
        return millis(now) - millis(since) >= ttlMillis;
    }

    /** Returns after how many milliseconds a group that has been idle since some moment has been idle long enough. */
    int leftMillis(long since, long now) {
        return Math.clamp(ttlMillis - (millis(now) - millis(since)), -1, ttlMillis);
    }

    private static long millis(long nanos) {
        return Math.floorDiv(nanos, NANOS_PER_MILLI);
    }

    /**
     * Adds a group that has become idle; returns false if the list is full and the group is not added always. Called
     * under the group's lock.
     */
    boolean add(Group group, boolean always) {
        if (listed.incrementAndGet() > max && !always) {
            listed.decrementAndGet();
            return false;
        }
        push(group);
        return true;
    }

    /** Arms the alarm of the next sweep, unless it is armed. Called after {@link #add}, without a lock. */
    void arm() {
        arm(ttlMillis);
    }

    private void arm(int millis) {
        if (alarm.get() != null || top.get() == null) {
            return;
        }
        GroupAlarm next = new GroupAlarm(engine.time.nanoTime() + millis * NANOS_PER_MILLI, null);
        if (alarm.compareAndSet(null, next)) {
            try {
                next.arm(engine.time, this);
            } catch (Throwable noTime) { // the caller has a task to settle
                alarm.compareAndSet(next, null); // the next group that becomes idle arms another one
                engine.policy.exceptionSink().report("alarm for idle groups", noTime);
            }
            if (closed) {
                next.disarm();
            }
        }
    }

    /** One pass over the list, which removes every group that has been idle long enough. */
    private final class Sweep implements Runnable {
        private final long now = engine.time.nanoTime();
        private @Nullable Group rest = top.getAndSet(null);
        private int next = Integer.MAX_VALUE; // the shortest time until a group that was kept may be removed

        /** Sweeps a portion, and has another one swept if there are more. */
        @Override
        public void run() {
            if (sweep(PORTION)) {
                engine.offloadExecutor.execute(this);
                return;
            }
            int longest = Math.max(ttlMillis, 1_000); // groups that are listed meanwhile may be removable before these
            arm(Math.min(Math.max(next, ttlMillis / 16), longest)); // a concurrent arm() may have found the list empty
        }

        /** Sweeps a number of groups. Returns whether there are more. */
        boolean sweep(int most) {
            Group group = rest;
            for (int swept = 0; group != null && swept < most; swept++) {
                Group following = group.nextIdle == group ? null : group.nextIdle;
                rest = following;
                sweep(group);
                group = following;
            }
            return group != null;
        }

        private void sweep(Group group) {
            int left = group.removableInMillis(now);
            Group.Sweep decision = group.sweep(now, listed.get() > max);
            if (decision == Group.Sweep.KEEP) {
                next = Math.min(next, left);
                push(group);
                return;
            }
            listed.decrementAndGet();
            if (decision == Group.Sweep.REMOVE) {
                engine.remove(group);
            }
        }
    }

    /** Removes the groups, which are retired, and cancels the alarm, which would retain the closed executor. */
    void close() {
        closed = true;
        new Sweep().sweep(Integer.MAX_VALUE);
        GroupAlarm pending = alarm.get();
        if (pending != null) {
            pending.disarm();
        }
    }

    /** The action of the alarm. */
    @Override
    public void run() {
        engine.offloadExecutor.execute(() -> {
            alarm.set(null);
            new Sweep().run();
        });
    }

    private void push(Group group) {
        Group below;
        do {
            below = top.get();
            group.nextIdle = below == null ? group : below;
        } while (!top.compareAndSet(below, group));
    }
}
