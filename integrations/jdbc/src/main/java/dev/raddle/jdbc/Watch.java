package dev.raddle.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at the database for what concerns this process: requests to cancel, other claims, ends that are awaited. */
final class Watch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);
    private static final Duration SEEN_INTERVAL = Duration.ofSeconds(5);
    private static final Duration LONG_LOOK = Duration.ofSeconds(5);

    private final RunTable runs;
    private final Collection<Registration<?>> registrations;
    private final String worker;
    private final @Nullable DatabaseClock clock;
    private final Map<String, ClaimedRun> claimed;
    private final Duration parkAfter;
    private final Map<String, CountDownLatch> awaited = new ConcurrentHashMap<>(); // by the ids of runs
    private final ScheduledExecutorService timer;
    private long lastSeen = System.nanoTime() - SEEN_INTERVAL.toNanos(); // confined to the timer
    private volatile boolean isAway; // whether the latest look failed; written by the timer
    private volatile @Nullable Long lookBegan; // the moment, null between two looks; likewise

    /**
     * Creates a watch, which does not begin yet.
     *
     * @param clock the clock to synchronize, or null
     * @param claimed the runs that this process executes, by their ids; others change it
     * @param settings the settings of the service
     */
    Watch(
            RunTable runs,
            Collection<Registration<?>> registrations,
            @Nullable DatabaseClock clock,
            Map<String, ClaimedRun> claimed,
            ServiceSettings settings) {
        this.runs = runs;
        this.registrations = List.copyOf(registrations);
        worker = settings.name();
        parkAfter = settings.parkAfter();
        this.clock = clock;
        this.claimed = claimed;
        timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("raddle-watch-" + worker).factory());
    }

    void start(Duration interval) throws SQLException {
        if (!registrations.isEmpty()) {
            runs.seen(worker, registrations);
        }
        Future<?> _ = timer.scheduleWithFixedDelay(this::look, 0, interval.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look() {
        lookBegan = System.nanoTime();
        try {
            reportSeen();
            watchClaimed();
            watchAwaited();
            isAway = false;
        } catch (SQLException | RuntimeException | Error failure) { // an Error, such as of memory, would end the timer
            if (!isAway) {
                LOG.warn("requests could not be read from the database, will try again: {}", failure.toString());
            }
            isAway = true;
        } finally {
            lookBegan = null;
        }
    }

    /** Returns whether the latest look has succeeded. One that lasts long has not. */
    boolean isDatabaseAvailable() {
        Long began = lookBegan;
        return !isAway && (began == null || System.nanoTime() - began < LONG_LOOK.toNanos());
    }

    private void reportSeen() throws SQLException {
        long now = System.nanoTime();
        if (now - lastSeen < SEEN_INTERVAL.toNanos()) {
            return;
        }
        if (!registrations.isEmpty()) {
            runs.seen(worker, registrations);
        }
        if (clock != null) {
            clock.synchronize();
        }
        lastSeen = now;
    }

    private void watchClaimed() throws SQLException {
        List<ClaimedRun> known = new ArrayList<>(claimed.values());
        if (known.isEmpty()) {
            return;
        }
        List<String> ids = known.stream().map(ClaimedRun::id).toList();
        Map<String, RunTable.Watched> found = runs.watch(ids);
        Map<String, List<String>> signalled = runs.signalled(ids);
        for (ClaimedRun run : known) {
            RunTable.Watched watched = found.get(run.id());
            if (watched == null || watched.epoch() > run.epoch()) {
                run.loseLater("it was claimed again after epoch " + run.epoch());
            } else if (watched.epoch() == run.epoch()) {
                run.attend(watched.cancelReason(), signalled.getOrDefault(run.id(), List.of()), parkAfter);
            }
        }
    }

    private void watchAwaited() throws SQLException {
        Set<String> ids = awaited();
        if (ids.isEmpty()) {
            return;
        }
        Set<String> open = runs.open(ids);
        for (String id : ids) {
            if (!open.contains(id)) {
                ended(id); // or removed
            }
        }
    }

    /** Returns the ids of the runs for which this process waits. */
    Set<String> awaited() {
        return Set.copyOf(awaited.keySet());
    }

    /** Wakes those that wait for a run. Called when the run may have ended; they look again. */
    void ended(String id) {
        CountDownLatch waiting = awaited.remove(id);
        if (waiting != null) {
            waiting.countDown();
        }
    }

    /** Returns a latch that is released when a run may have ended. The caller must look after this call. */
    CountDownLatch whenEnded(String id) {
        return awaited.computeIfAbsent(id, unknown -> new CountDownLatch(1));
    }

    @Override
    public void close() {
        timer.shutdownNow();
        awaited.keySet().forEach(this::ended);
        try {
            if (!registrations.isEmpty()) {
                runs.gone(worker);
            }
        } catch (SQLException failure) {
            LOG.debug("the worker could not be removed from the list; it will be forgotten", failure);
        }
    }
}
