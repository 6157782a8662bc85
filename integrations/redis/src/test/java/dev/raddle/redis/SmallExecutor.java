package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;

/** The smallest holder of permits that there is: threads that wait for a permit of a group and run one task with it. */
final class SmallExecutor implements PermitSource.Holder, Engine {

    /*
     * Overview.
     *
     * One monitor guards all groups. Permits of a group are in three places:
     *
     *   free      unused; empty if a thread waits, unless debt > 0
     *   running   in use by a task
     *   debt      the number of running tasks whose permit was revoked. So many free permits may not be used.
     *
     * A thread other than the callers' notifies the session, one group at a time, so the session is never called under the
     * monitor nor by two threads.
     */
    private final Map<String, Group> groups = new HashMap<>(); // guarded by this
    private final BlockingQueue<Runnable> notices = new LinkedBlockingQueue<>();
    private final PermitSource.Session session;
    private final Thread notifier;

    SmallExecutor(PermitSource source) {
        session = source.open(this);
        notifier = Thread.ofVirtual().start(this::deliverNotices);
    }

    @Override
    public void run(String key, FencedTask task) throws InterruptedException {
        Waiter waiter = new Waiter();
        enqueue(key, waiter);
        try {
            waiter.ready.acquire();
        } catch (InterruptedException e) {
            withdraw(key, waiter);
            throw e;
        }
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException(); // revoked before it began
            }
            task.run(waiter.permit.fence);
        } finally {
            release(key, waiter);
        }
    }

    private synchronized void enqueue(String key, Waiter waiter) {
        Group group = groups.computeIfAbsent(key, Group::new);
        group.waiting.add(waiter);
        group.serve();
        notice(group);
    }

    private synchronized void withdraw(String key, Waiter waiter) {
        Group group = groups.get(key);
        if (group.waiting.remove(waiter)) {
            notice(group);
        } else {
            release(key, waiter);
        }
    }

    private synchronized void release(String key, Waiter waiter) {
        Group group = groups.get(key);
        group.running.remove(waiter);
        if (waiter.lost) {
            group.debt--;
            boolean unused = Thread.interrupted(); // the interrupt belonged to the task
        } else if (!waiter.permit.once) {
            waiter.permit.used = true;
            group.free.add(waiter.permit);
        }
        group.serve();
        notice(group);
    }

    private void notice(Group group) {
        if (!group.noticed) {
            group.noticed = true;
            notices.add(() -> tell(group));
        }
    }

    private void tell(Group group) {
        int wanted;
        int unused;
        synchronized (this) {
            group.noticed = false;
            wanted = Math.max(0, group.waiting.size() - group.free.size());
            unused = group.waiting.isEmpty() ? group.free.size() : 0;
        }
        session.demand(group.key, wanted, unused);
    }

    private void deliverNotices() {
        try {
            while (true) {
                notices.take().run();
            }
        } catch (InterruptedException e) {
            session.close();
        }
    }

    @Override
    public boolean grant(String groupKey, long fence) {
        return grant(groupKey, new Permit(fence, false));
    }

    @Override
    public boolean grantOnce(String groupKey, long fence) {
        return grant(groupKey, new Permit(fence, true));
    }

    private synchronized boolean grant(String groupKey, Permit permit) {
        Group group = groups.get(groupKey);
        if (group == null || group.waiting.isEmpty() && group.running.isEmpty()) {
            return false;
        }
        group.free.add(permit);
        group.serve();
        if (!group.free.isEmpty()) {
            notice(group);
        }
        return true;
    }

    @Override
    public synchronized PermitSource.Reclaimed reclaim(String groupKey, int most) {
        Group group = groups.get(groupKey);
        int used = 0;
        int unused = 0;
        while (group != null && used + unused < most && !group.free.isEmpty()) {
            if (group.free.remove().used) {
                used++;
            } else {
                unused++;
            }
        }
        return new PermitSource.Reclaimed(unused, used);
    }

    @Override
    public synchronized int revoke(String groupKey, int permits, String reason) {
        Group group = groups.get(groupKey);
        if (group == null) {
            return 0;
        }
        int taken = 0;
        while (taken < permits && group.free.poll() != null) {
            taken++;
        }
        for (Iterator<Waiter> youngest = group.running.reversed().iterator(); taken < permits && youngest.hasNext(); ) {
            Waiter waiter = youngest.next();
            if (!waiter.lost && !waiter.permit.once) {
                waiter.lost = true;
                group.debt++;
                waiter.thread.interrupt();
                taken++;
            }
        }
        notice(group);
        return taken;
    }

    @Override
    public void limit(String groupKey, int permits) {
        // Each task needs one permit, whatever the limit is.
    }

    @Override
    public void close() {
        notifier.interrupt();
        try {
            notifier.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized String toString() {
        return groups.values().stream().filter(Group::isActive).toList().toString();
    }

    private static final class Group {
        private final String key;
        private final ArrayDeque<Permit> free = new ArrayDeque<>();
        private final ArrayDeque<Waiter> waiting = new ArrayDeque<>();
        private final LinkedHashSet<Waiter> running = new LinkedHashSet<>(); // oldest first
        private int debt;
        private boolean noticed;

        Group(String key) {
            this.key = key;
        }

        boolean isActive() {
            return !free.isEmpty() || !waiting.isEmpty() || !running.isEmpty();
        }

        @Override
        public String toString() {
            return key + ": " + free.size() + " free, " + running.size() + " running, " + debt + " lost, "
                    + waiting.size() + " waiting";
        }

        void serve() {
            while (free.size() > debt && !waiting.isEmpty()) {
                Waiter waiter = waiting.remove();
                waiter.permit = free.remove();
                running.add(waiter);
                waiter.ready.release();
            }
        }
    }

    private static final class Permit {
        private final long fence;
        private final boolean once;
        private boolean used;

        Permit(long fence, boolean once) {
            this.fence = fence;
            this.once = once;
        }
    }

    private static final class Waiter {
        private final Thread thread = Thread.currentThread();
        private final Semaphore ready = new Semaphore(0);
        private Permit permit = new Permit(0, true);
        private boolean lost;
    }
}
