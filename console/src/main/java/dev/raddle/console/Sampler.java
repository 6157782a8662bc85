package dev.raddle.console;

import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Computes what clients look at, while there are any. */
final class Sampler {

    /*
     * Overview.
     *
     * While there are clients, one thread reads all groups, computes each view once, and passes it to all clients that
     * look at it. Then it rests for a quarter of a second, or for sixty times as long as this took, up to half a
     * minute. One slow round does not count: the first one loads classes, and any may be delayed by others. A client
     * that comes meanwhile wakes the thread: its view is then computed from what was read last. When the console is
     * closed, the thread computes all views once more, passes each client the end, and ends.
     *
     * While there are no clients, the thread adds to the histories once a second, or rests for a thousand times as
     * long as that took.
     */

    /** Computes the state of a view. */
    interface States {
        ObjectNode state(View view, long now);
    }

    private static final long SHORTEST_REST = Duration.ofMillis(250).toNanos();
    static final Duration LONGEST_REST = Duration.ofSeconds(30);
    private static final int REST_PER_WORK = 60;
    private static final long REST_WITHOUT_CLIENT = Duration.ofSeconds(1).toNanos();
    private static final int REST_PER_WORK_WITHOUT_CLIENT = 1_000;
    private static final Duration LONGEST_LAST_ROUND = Duration.ofSeconds(10);

    private final int most;
    private final long longestRest;
    private final LongConsumer sample; // reads all groups; the argument is the time
    private final LongConsumer sampleWithoutClient;
    private final States states;
    private final Set<Client> clients = new LinkedHashSet<>(); // guarded by this
    private volatile boolean closed; // written under this; no client comes later
    private volatile boolean isActive; // written under this; whether there are clients
    private @Nullable Thread thread; // from the start on; guarded by this
    private final AtomicLong samples = new AtomicLong();
    private @Nullable Throwable failure; // of the last round; used by the sampler's thread only
    private boolean hasWarned; // since the last round without a failure; used by the sampler's thread only
    private final Semaphore wakeups = new Semaphore(0);

    Sampler(int most, Duration longestRest, LongConsumer sample, LongConsumer sampleWithoutClient, States states) {
        this.most = most;
        this.longestRest = longestRest.toNanos();
        this.sample = sample;
        this.sampleWithoutClient = sampleWithoutClient;
        this.states = states;
    }

    /** Returns whether there are clients. */
    boolean isActive() {
        return isActive;
    }

    /** Starts the thread, unless it has started. */
    synchronized void start() {
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("raddle-console-sampler").start(this::run);
        }
    }

    /** Returns how often all groups have been read. */
    long samples() {
        return samples.get();
    }

    /** Adds a client. */
    synchronized Client open(View view) {
        if (closed) {
            throw new Refusal(503, "the console is closed");
        }
        if (clients.size() >= most) {
            throw new Refusal(
                    503,
                    "the console has " + most
                            + " clients, and admits no more; close a page, or raise ConsoleOptions.withClients");
        }
        Client client = new Client(view);
        clients.add(client);
        isActive = true;
        start();
        wakeups.release();
        return client;
    }

    synchronized void remove(Client client) {
        clients.remove(client);
        wakeups.release();
    }

    /** Passes all clients a last snapshot and the end, unless user code that does not return keeps the thread. */
    void close() throws InterruptedException {
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
            wakeups.release();
        }
        if (running != null) {
            running.join(LONGEST_LAST_ROUND);
        }
    }

    private synchronized List<Client> clients() {
        isActive = !clients.isEmpty();
        return new ArrayList<>(clients);
    }

    private synchronized void end(List<Client> all) {
        all.forEach(Client::end);
        clients.clear();
    }

    private void run() {
        Map<View, Snapshot> snapshots = new HashMap<>();
        long restUntil = System.nanoTime();
        long took = 0; // by the last round
        while (true) {
            boolean isLast = closed;
            List<Client> now = clients();
            long begin = System.nanoTime();
            if (now.isEmpty()) {
                if (isLast) {
                    return;
                }
                snapshots = Map.of();
                sampleQuietly();
                long end = System.nanoTime();
                rest(end + Math.max(REST_WITHOUT_CLIENT, REST_PER_WORK_WITHOUT_CLIENT * (end - begin)));
                restUntil = System.nanoTime();
                continue;
            }
            boolean isDue = isLast || begin - restUntil >= 0;
            snapshots = compute(now, snapshots, isDue);
            if (isLast) {
                end(now);
                continue;
            }
            if (isDue) {
                long end = System.nanoTime();
                long rest = Math.max(SHORTEST_REST, REST_PER_WORK * Math.min(took, end - begin));
                restUntil = end + Math.min(rest, longestRest);
                took = end - begin;
            }
            rest(restUntil);
        }
    }

    private void sampleQuietly() {
        try {
            sampleWithoutClient.accept(System.currentTimeMillis());
        } catch (Throwable userCode) { // such as a clock; clients are shown what is wrong
            failure = userCode;
        }
    }

    private void rest(long until) {
        try {
            wakeups.tryAcquire(until - System.nanoTime(), TimeUnit.NANOSECONDS);
            wakeups.drainPermits();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible); // the thread is known to this class only
        }
    }

    private Map<View, Snapshot> compute(List<Client> now, Map<View, Snapshot> before, boolean isDue) {
        long time = System.currentTimeMillis();
        failure = null;
        if (isDue) {
            try {
                sample.accept(time);
            } catch (Throwable userCode) { // such as a name
                failure = userCode;
            }
            samples.incrementAndGet();
        }
        Map<View, Snapshot> snapshots = new HashMap<>();
        for (Client client : now) {
            Snapshot last = before.get(client.view);
            Snapshot known = snapshots.get(client.view);
            if (known == null) {
                known = last == null || isDue ? next(client.view, last, time) : last;
            }
            if (known != null) {
                snapshots.put(client.view, known);
                client.offer(known);
            }
        }
        if (failure != null && !hasWarned) {
            UserCode.warn("dev.raddle.console", "the console could not be updated", failure);
        }
        if (isDue || failure != null) {
            hasWarned = failure != null;
        }
        return snapshots;
    }

    /** Returns a view as it is now. If user code throws, it stays as it was, and the other views do not suffer. */
    private @Nullable Snapshot next(View view, @Nullable Snapshot last, long time) {
        try {
            return new Snapshot(states.state(view, time), last);
        } catch (Throwable userCode) { // such as the size of a pool's queue
            failure = userCode;
            return last;
        }
    }
}
