package dev.raddle.micrometer;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;

/** The executors whose limits the gauges show: the sums over all of them. A missing limit is infinite. */
final class WatchedExecutors {

    private final List<GroupExecutor> executors = new CopyOnWriteArrayList<>();
    private final List<Meter> all = new ArrayList<>(); // guarded by this
    private boolean closed; // guarded by this

    boolean isEmpty() {
        return executors.isEmpty();
    }

    /** Adds an executor; the first one also registers the gauges that belong to no key. */
    synchronized void add(GroupExecutor executor, MeterRegistry registry, String prefix, Tags tags) {
        if (closed) {
            return;
        }
        executors.add(executor);
        if (executors.size() > 1) {
            return;
        }
        gauge(
                registry,
                prefix + ".cap",
                "Tasks of all groups that may run at once",
                tags,
                watched -> watched.sum(stats -> stats.globalInFlightMax()));
        gauge(
                registry,
                prefix + ".cap.used",
                "Permits of the cap that are in use",
                tags,
                watched -> watched.sum(stats -> stats.globalInFlightUsed()));
        gauge(
                registry,
                prefix + ".queue.threshold",
                "Tasks of all groups that may wait",
                tags,
                WatchedExecutors::queueThreshold);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String description,
            Tags tags,
            ToDoubleFunction<WatchedExecutors> value) {
        all.add(Gauge.builder(name, this, value)
                .description(description)
                .baseUnit(BaseUnits.TASKS)
                .tags(tags)
                .register(registry));
    }

    synchronized void remove(MeterRegistry registry) {
        closed = true;
        all.forEach(registry::remove);
        all.clear();
        executors.clear();
    }

    private double sum(ToIntFunction<GroupExecutorStats> number) {
        double sum = 0;
        for (GroupExecutor executor : executors) {
            sum += number(number.applyAsInt(executor.stats()));
        }
        return sum;
    }

    private double queueThreshold() {
        double sum = 0;
        for (GroupExecutor executor : executors) {
            sum += number(executor.policy().globalQueueThreshold());
        }
        return sum;
    }

    double limit(String key) {
        return sum(key, GroupStats::maxConcurrency);
    }

    double queueCapacity(String key) {
        return sum(key, GroupStats::queueCapacity);
    }

    /** Returns 2 if the breaker of a group is open in an executor, 1 if half-open, 0 if closed, NaN without one. */
    double breaker(String key) {
        double most = Double.NaN;
        for (GroupExecutor executor : executors) {
            GroupStats stats = executor.groupStats(key).orElse(null);
            if (stats != null && stats.breaker() != null) {
                int level = level(stats.breaker().state());
                most = Double.isNaN(most) ? level : Math.max(most, level);
            }
        }
        return most;
    }

    private static int level(CircuitBreaker.State state) {
        return switch (state) {
            case CLOSED -> 0;
            case HALF_OPEN -> 1;
            case OPEN -> 2;
        };
    }

    /** Returns a sum over the executors that know a group, or NaN if none does. */
    private double sum(String key, ToIntFunction<GroupStats> number) {
        double sum = Double.NaN;
        for (GroupExecutor executor : executors) {
            GroupStats stats = executor.groupStats(key).orElse(null);
            if (stats != null) {
                sum = (Double.isNaN(sum) ? 0 : sum) + number(number.applyAsInt(stats));
            }
        }
        return sum;
    }

    private static double number(int limit) {
        return limit == Integer.MAX_VALUE ? Double.POSITIVE_INFINITY : limit;
    }
}
