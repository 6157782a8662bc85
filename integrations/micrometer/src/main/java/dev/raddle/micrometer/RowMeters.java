package dev.raddle.micrometer;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskStatus;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/** The meters of one row. All are registered by the constructor, so that none can be added after their removal. */
final class RowMeters {

    static final String OTHER = "other";
    static final List<TaskStatus> RAN = List.of(TaskStatus.SUCCESS, TaskStatus.FAILED, TaskStatus.CANCELLED);

    static final List<TaskStatus> UNSTARTED =
            List.of(TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.SKIPPED, TaskStatus.SUCCESS);

    /** The prefix of the meters of groups, which have breakers. */
    static final String GROUPS = "raddle.group";

    /** The number of meters of a row of groups, besides gauges of limits and the state of the breaker. */
    static final int COUNT =
            3 + RAN.size() + UNSTARTED.size() + Rejection.Reason.values().length + CircuitBreaker.State.values().length;

    private static final CircuitBreaker.State[] NO_STATES = {};

    private final List<Meter> all = new ArrayList<>(); // changed by one thread at a time
    private boolean showsLimits; // changed by one thread at a time
    private final Timer waiting;
    private final Map<TaskStatus, Timer> running = new HashMap<>();
    private final Map<TaskStatus, Counter> unstarted = new HashMap<>();
    private final Map<Rejection.Reason, Counter> rejected = new EnumMap<>(Rejection.Reason.class);
    private final Map<String, Counter> breakerChanges = new HashMap<>(); // by the state; empty unless of groups

    /**
     * Registers the meters.
     *
     * @param prefix the prefix of their names, as in {@code raddle.group}
     * @param tags the tags of each meter
     * @param subject the object that the gauges read; referred to weakly
     */
    <T> RowMeters(
            MeterRegistry registry,
            String prefix,
            Tags tags,
            T subject,
            ToDoubleFunction<T> runningNow,
            ToDoubleFunction<T> waitingNow) {
        gauge(registry, prefix + ".running", "Tasks that run", tags, subject, runningNow);
        gauge(registry, prefix + ".waiting", "Tasks that wait", tags, subject, waitingNow);
        waiting = noted(Timer.builder(prefix + ".wait")
                .description("From the submission of a task to its start")
                .tags(tags)
                .register(registry));
        for (TaskStatus status : RAN) {
            running.put(
                    status,
                    noted(Timer.builder(prefix + ".run")
                            .description("From the start of a task to its end")
                            .tags(tags)
                            .tag("outcome", status.name().toLowerCase(Locale.ROOT))
                            .register(registry)));
        }
        for (TaskStatus status : UNSTARTED) {
            unstarted.put(
                    status,
                    noted(Counter.builder(prefix + ".unstarted")
                            .description("Tasks that ended without having been started or rejected")
                            .baseUnit(BaseUnits.TASKS)
                            .tags(tags)
                            .tag("outcome", status.name().toLowerCase(Locale.ROOT))
                            .register(registry)));
        }
        for (Rejection.Reason reason : Rejection.Reason.values()) {
            rejected.put(
                    reason,
                    noted(Counter.builder(prefix + ".rejected")
                            .description("Tasks that were rejected on submission or while they waited")
                            .baseUnit(BaseUnits.TASKS)
                            .tags(tags)
                            .tag("reason", reason.toString())
                            .register(registry)));
        }
        for (CircuitBreaker.State state : prefix.equals(GROUPS) ? CircuitBreaker.State.values() : NO_STATES) {
            breakerChanges.put(
                    state.toString(),
                    noted(Counter.builder(prefix + ".breaker.changes")
                            .description("Changes of the circuit breaker to a state")
                            .tags(tags)
                            .tag("state", state.toString())
                            .register(registry)));
        }
    }

    /** Registers the gauges of the limits of the row's group, unless they are registered. */
    void showLimits(MeterRegistry registry, String prefix, Tags tags, WatchedExecutors executors, String key) {
        if (!showsLimits) {
            showsLimits = true;
            gauge(
                    registry,
                    prefix + ".limit",
                    "Tasks of the group that may run at once",
                    tags,
                    executors,
                    watched -> watched.limit(key));
            gauge(
                    registry,
                    prefix + ".queue.capacity",
                    "Tasks of the group that may wait",
                    tags,
                    executors,
                    watched -> watched.queueCapacity(key));
            noted(Gauge.builder(prefix + ".breaker", executors, watched -> watched.breaker(key))
                    .description("State of the circuit breaker: 0 closed, 1 half-open, 2 open")
                    .tags(tags)
                    .register(registry));
        }
    }

    private <T> void gauge(
            MeterRegistry registry, String name, String description, Tags tags, T subject, ToDoubleFunction<T> value) {
        noted(Gauge.builder(name, subject, value)
                .description(description)
                .baseUnit(BaseUnits.TASKS)
                .tags(tags)
                .register(registry));
    }

    private <M extends Meter> M noted(M meter) {
        all.add(meter);
        return meter;
    }

    void started(long waitNanos) {
        waiting.record(waitNanos, TimeUnit.NANOSECONDS);
    }

    void ended(TaskStatus status, long runNanos) {
        Timer timer = running.get(status);
        if (timer != null) {
            timer.record(runNanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Counts a task that has ended without having been started or rejected. */
    void endedUnstarted(TaskStatus status) {
        Counter counter = unstarted.get(status);
        if (counter != null) {
            counter.increment();
        }
    }

    /** Counts a rejection by the rule that caused it. */
    void rejected(Rejection.Reason reason) {
        Objects.requireNonNull(rejected.get(reason)).increment();
    }

    /** Counts a change of the breaker to a state. */
    void breakerChanged(String state) {
        Counter counter = breakerChanges.get(state);
        if (counter != null) {
            counter.increment();
        }
    }

    void remove(MeterRegistry registry) {
        all.forEach(registry::remove);
    }
}
