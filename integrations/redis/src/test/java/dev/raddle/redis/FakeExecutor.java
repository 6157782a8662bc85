package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A small executor that runs tasks with the permits of a source, and reports its demand as the real one does. */
final class FakeExecutor implements PermitSource.Holder, AutoCloseable {

    /** Counts the tasks that run at once, over all executors of a test. */
    static final class Peak {
        private final ConcurrentHashMap<String, AtomicInteger> running = new ConcurrentHashMap<>();
        private final ConcurrentHashMap<String, Integer> most = new ConcurrentHashMap<>();

        void begin(String key) {
            int now = running.computeIfAbsent(key, any -> new AtomicInteger()).incrementAndGet();
            most.merge(key, now, Math::max);
        }

        void end(String key) {
            running.get(key).decrementAndGet();
        }

        int of(String key) {
            return most.getOrDefault(key, 0);
        }
    }

    private static final class Group {
        final ArrayDeque<LongConsumer> waiting = new ArrayDeque<>();
        final ArrayDeque<Long> free = new ArrayDeque<>();
        final List<Thread> running = new ArrayList<>(); // oldest first
        int held;
        int spent;
        int lost; // tasks whose permit was revoked
        int limit;
        boolean isReported;
    }

    final Peak peak;
    final AtomicInteger revoked = new AtomicInteger();
    final AtomicInteger ended = new AtomicInteger();
    volatile @Nullable String reason;
    private final Map<String, Group> groups = new HashMap<>(); // guarded by this
    private final ExecutorService reporter =
            Executors.newSingleThreadExecutor(Thread.ofVirtual().factory());
    private final PermitSource.Session session;

    FakeExecutor(PermitSource source, Peak peak) {
        this.peak = peak;
        session = source.open(this);
    }

    PermitSource.Session session() {
        return session;
    }

    /** Submits a task, which receives its fencing number. */
    synchronized void submit(String key, LongConsumer task) {
        group(key).waiting.add(task);
        proceed(key);
    }

    void submit(String key, int tasks, LongConsumer task) {
        for (int i = 0; i < tasks; i++) {
            submit(key, task);
        }
    }

    /** Removes the waiting tasks of a group. */
    synchronized void withdraw(String key) {
        group(key).waiting.clear();
        proceed(key);
    }

    synchronized int limitOf(String key) {
        return group(key).limit;
    }

    synchronized int waitingIn(String key) {
        return group(key).waiting.size();
    }

    private Group group(String key) {
        return groups.computeIfAbsent(key, any -> new Group());
    }

    private void proceed(String key) {
        Group group = group(key);
        while (!group.waiting.isEmpty() && group.free.size() > group.lost) {
            long fence = group.free.poll();
            LongConsumer task = group.waiting.poll();
            group.held++;
            Thread runner = Thread.ofVirtual().unstarted(() -> run(key, task, fence));
            group.running.add(runner);
            peak.begin(key);
            runner.start();
        }
        if (!group.isReported) {
            group.isReported = true;
            reporter.execute(() -> report(key));
        }
    }

    private void run(String key, LongConsumer task, long fence) {
        try {
            task.accept(fence);
        } finally {
            peak.end(key);
            ended.incrementAndGet();
            synchronized (this) {
                Group group = group(key);
                group.running.remove(Thread.currentThread());
                if (group.lost > 0) {
                    group.lost--;
                } else {
                    group.held--;
                    group.spent++;
                }
                proceed(key);
            }
        }
    }

    private void report(String key) {
        int wanted;
        int unused;
        synchronized (this) {
            Group group = group(key);
            group.isReported = false;
            int needed = group.waiting.isEmpty() ? 0 : group.waiting.size() + group.lost;
            wanted = Math.max(0, needed - group.free.size());
            unused = Math.max(0, group.free.size() - needed) + group.spent;
        }
        session.demand(key, wanted, unused);
    }

    @Override
    public boolean grant(String key, long fence) {
        throw new AssertionError("not used");
    }

    @Override
    public synchronized boolean grantOnce(String key, long fence) {
        group(key).free.add(fence);
        proceed(key);
        return true;
    }

    @Override
    public synchronized PermitSource.Reclaimed reclaim(String key, int most) {
        Group group = group(key);
        int used = Math.min(most, group.spent);
        int needed = group.waiting.isEmpty() ? 0 : group.waiting.size() + group.lost;
        int unused = Math.clamp(group.free.size() - needed, 0, most - used);
        group.spent -= used;
        for (int i = 0; i < unused; i++) {
            group.free.pollLast();
        }
        return new PermitSource.Reclaimed(unused, used);
    }

    @Override
    public synchronized int revoke(String key, int permits, String why) {
        Group group = group(key);
        reason = why;
        int left = permits;
        for (; left > 0 && !group.free.isEmpty(); left--) {
            group.free.pollLast();
        }
        for (; left > 0 && group.spent > 0; left--) {
            group.spent--;
        }
        for (; left > 0 && group.held > 0; left--) {
            group.held--;
            group.lost++;
            group.running.get(group.running.size() - group.lost).interrupt();
        }
        revoked.addAndGet(permits - left);
        proceed(key);
        return permits - left;
    }

    @Override
    public synchronized void limit(String key, int permits) {
        group(key).limit = permits;
        notifyAll();
    }

    @Override
    public void close() {
        session.close();
        reporter.shutdownNow();
    }
}
