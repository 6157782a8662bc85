package dev.raddle.group;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A permit source that records what it is notified of, and leaves the answers to the test. */
class FakePermits implements PermitSource {

    private final List<String> demands = new ArrayList<>(); // guarded by this
    private final Map<String, Integer> wanted = new HashMap<>(); // guarded by this
    private final Map<String, Integer> unused = new HashMap<>(); // guarded by this
    final Semaphore reports = new Semaphore(0);
    private @Nullable Holder holder;
    private long lastFence;
    int closed;
    PermitStatus status = PermitStatus.UNKNOWN;

    /** Called for each demand, after it was recorded. */
    void onDemand(String key, int wanted, int unused) {}

    void onClose() {}

    @Override
    public Session open(Holder newHolder) {
        holder = newHolder;
        return new Session() {
            @Override
            public void demand(String groupKey, int wantedNow, int unusedNow) {
                record(groupKey, wantedNow, unusedNow);
                onDemand(groupKey, wantedNow, unusedNow);
                reports.release();
            }

            @Override
            public PermitStatus status(String groupKey) {
                return status;
            }

            @Override
            public void close() {
                closed++;
                onClose();
            }
        };
    }

    private synchronized void record(String key, int wantedNow, int unusedNow) {
        demands.add(key + " " + wantedNow + " " + unusedNow);
        wanted.put(key, wantedNow);
        unused.put(key, unusedNow);
    }

    Holder holder() {
        if (holder == null) {
            throw new IllegalStateException("not opened");
        }
        return holder;
    }

    /** Returns the demands since the last call, each as key, number wanted, number unused. */
    synchronized List<String> demands() {
        List<String> copy = List.copyOf(demands);
        demands.clear();
        return copy;
    }

    synchronized int wanted(String key) {
        return wanted.getOrDefault(key, 0);
    }

    synchronized int unused(String key) {
        return unused.getOrDefault(key, 0);
    }

    /** Grants permits, with the fences 1, 2 and so on. */
    void grant(String key, int permits) {
        for (int i = 0; i < permits; i++) {
            if (!holder().grant(key, ++lastFence)) {
                throw new IllegalStateException("group " + key + " does not accept a permit");
            }
        }
    }
}
