package dev.raddle.checks.stress;

import dev.raddle.group.PermitSource;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * An executor whose tasks need permits that the actors grant and revoke. What the executor leaves to other threads is
 * queued until the arbiter runs it, so no thread is started.
 */
final class PermitRig implements PermitSource {

    private final ConcurrentLinkedQueue<Runnable> offloaded = new ConcurrentLinkedQueue<>();
    private Holder holder;
    final Rig rig = new Rig(rules -> rules.permits(this).timeSource(new QueuingTime()));

    private final class QueuingTime implements TimeSource {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            return () -> false;
        }

        @Override
        public boolean follow(Runnable action) {
            return offloaded.add(action);
        }
    }

    @Override
    public Session open(Holder newHolder) {
        holder = newHolder;
        return new Session() {
            @Override
            public void demand(String groupKey, int wanted, int unused) {}

            @Override
            public void close() {}
        };
    }

    boolean grant(String key, long fence) {
        return holder.grant(key, fence);
    }

    int revoke(String key) {
        return holder.revoke(key, 1, "revoked");
    }

    /** Runs what the executor has left to other threads, but no task. */
    void runOffloaded() {
        for (Runnable next; (next = offloaded.poll()) != null; ) {
            next.run();
        }
    }

    /** Runs everything; returns {@link Rig#FREE}, or what is never released. */
    String rest() {
        String rest;
        do {
            runOffloaded();
            rest = rig.rest();
        } while (!offloaded.isEmpty());
        return rest;
    }

    /** Takes all unused permits back and returns their number. */
    int reclaim(String key) {
        return holder.reclaim(key, Integer.MAX_VALUE).total();
    }
}
