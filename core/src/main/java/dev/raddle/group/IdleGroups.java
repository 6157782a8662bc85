package dev.raddle.group;

import dev.raddle.task.ExceptionSink;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Remembers groups that have no tasks, for a time and up to a number.
 *
 * <p>The list is a stack, linked through the groups. A group enters it when it becomes idle, and stays when it becomes busy
 * again, so that a group which goes back and forth costs nothing here; a sweep takes out the whole stack, forgets what has
 * been idle long enough, drops what is busy, and puts back the rest. So there are never more idle groups than listed ones,
 * which are counted. One alarm at a time is pending, and only while the list is not empty.
 */
final class IdleGroups {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final TimeSource time;
    private final ExceptionSink sink;
    private final int ttlMillis;
    private final int max;
    private final Consumer<Group> forget;
    private final AtomicReference<@Nullable Group> top = new AtomicReference<>();
    private final AtomicInteger listed = new AtomicInteger();
    private final AtomicBoolean armed = new AtomicBoolean();

    IdleGroups(GroupPolicy policy, TimeSource time, Consumer<Group> forget) {
        this.time = time;
        this.sink = policy.exceptionSink();
        this.ttlMillis = (int)
                Math.min(Math.ceilDiv(Deadline.nanos(policy.idleGroupTtl()), NANOS_PER_MILLI), Integer.MAX_VALUE / 2);
        this.max = ttlMillis == 0 ? 0 : policy.maxIdleGroups();
        this.forget = forget;
    }

    /** A moment in milliseconds that wrap around: half the bytes, and enough for a life of 24 days. */
    static int millis(long nanos) {
        return (int) Math.floorDiv(nanos, NANOS_PER_MILLI);
    }

    /** Lists a group that has become idle; false if no more are remembered. Called under the group's lock. */
    boolean add(Group group) {
        if (listed.incrementAndGet() > max) {
            listed.decrementAndGet();
            return false;
        }
        push(group);
        return true;
    }

    /** Sees to it that the list is swept in time. Called after {@link #add}, without a lock. */
    void arm() {
        arm(ttlMillis);
    }

    private void arm(int millis) {
        if (!armed.get() && top.get() != null && armed.compareAndSet(false, true)) {
            try {
                time.after(Duration.ofMillis(millis), this::ring);
            } catch (Throwable noAlarm) {
                armed.set(false); // for whoever comes next; idle groups stay until then
                sink.report("time source of the policy", noAlarm);
            }
        }
    }

    /** Forgets every group that has been idle long enough. */
    void sweep() {
        int now = millis(time.nanoTime());
        int next = ttlMillis;
        Group group = top.getAndSet(null);
        while (group != null) {
            Group following = group.nextIdle == group ? null : group.nextIdle;
            int left = group.idleSinceMillis() + ttlMillis - now;
            switch (group.sweep(now, ttlMillis)) {
                case KEEP -> {
                    next = Math.min(next, Math.max(1, left));
                    push(group);
                }
                case DROP -> listed.decrementAndGet();
                case FORGET -> {
                    listed.decrementAndGet();
                    forget.accept(group);
                }
            }
            group = following;
        }
        arm(Math.max(next, ttlMillis / 16)); // whoever sweeps may have hidden the list from the alarm for a moment
    }

    private void ring() {
        armed.set(false);
        sweep();
    }

    private void push(Group group) {
        Group below;
        do {
            below = top.get();
            group.nextIdle = below == null ? group : below;
        } while (!top.compareAndSet(below, group));
    }
}
