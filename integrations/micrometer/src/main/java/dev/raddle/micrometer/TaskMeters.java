package dev.raddle.micrometer;

import dev.raddle.group.GroupExecutor;
import dev.raddle.task.Outcome;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * The meters of the tasks of groups, scopes, flows or pools: how many run and wait, how long they wait and run, how
 * they end, and why they are rejected.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .addListener(TaskMeters.forGroups(registry))
 *         .build();
 * }
 *
 * <p>For groups the names begin with {@code raddle.group} and the key is the tag {@code group}; for scopes with
 * {@code raddle.scope}, and the name is the tag {@code scope}; for flows with {@code raddle.flow}, the name is the tag
 * {@code flow}, and the tasks are the nodes; for pools with {@code raddle.pool.task}, and the name is the tag
 * {@code pool}. {@link PoolMeters} has the meters of a pool's threads and queue.
 *
 * <ul>
 *   <li>gauges {@code .running} and {@code .waiting}: tasks
 *   <li>timer {@code .wait}: from submission to start, of tasks that have started
 *   <li>timer {@code .run}, by {@code outcome} ({@code success}, {@code failed}, {@code cancelled}): from start to end
 *   <li>counter {@code .rejected}, by {@code reason} (the words of {@link dev.raddle.task.Rejection.Reason}): each
 *       rejection, regardless of what a rejection policy or handler then does with the task
 *   <li>counter {@code .unstarted}, by {@code outcome} ({@code failed}, {@code cancelled}, {@code skipped},
 *       {@code success}): tasks that ended without having been started or rejected, such as those whose timeout passed
 *       while they waited, and nodes whose upstreams failed or whose values come from a journal
 *   <li>of groups, counter {@code .breaker.changes}, by {@code state} (the words of
 *       {@link dev.raddle.group.CircuitBreaker.State}): each change of a circuit breaker to that state
 * </ul>
 *
 * <p>{@link #watch} adds gauges of limits and breakers. {@link #close} removes all meters.
 *
 * <h2>Which keys have meters</h2>
 *
 * A million tenants do not create a million meters: at most {@code topKeys} keys have meters of their own, all others
 * share those with the key {@code other}. The rule:
 *
 * <ol>
 *   <li>A key's traffic is the number of tasks submitted for it. It is halved every ten minutes, so that keys with
 *       little recent traffic can be replaced.
 *   <li>The first {@code topKeys} keys get meters with their first tasks.
 *   <li>After that the traffic of ten times as many keys without meters is estimated, by the Space-Saving algorithm. A
 *       key replaces the key with meters that has the least traffic when it certainly has more than twice that traffic.
 *   <li>The meters of a replaced key are removed from the registry, and with them their counts. Its unfinished tasks
 *       count for {@code other}, even if the key gets meters again.
 * </ol>
 *
 * <p>So the sum over all keys of {@code .running} and {@code .waiting} is exact when no task is submitted, starts or
 * ends. There are at most 24 meters for each key with meters and for {@code other}, and with {@link #watch} 3 gauges
 * for each key with meters. At most eleven times {@code topKeys} keys are remembered, and one map entry for each task
 * that has not ended. A key that is named
 * {@code other} shares the meters of the others. The tag of a key of more than 200 characters is cut, with a hash.
 *
 * <p>One object may serve several executors, or scopes, or flows, which then share its meters. Two objects on one
 * registry need different tags. A meter filter may rename keys, but must not give two keys the same name.
 */
public final class TaskMeters implements TaskListener, AutoCloseable {

    /** The default number of keys with meters of their own. */
    public static final int DEFAULT_TOP_KEYS = 100;

    private static final int LONGEST_TAG = 200;

    private final MeterRegistry registry;
    private final String prefix;
    private final String keyTag;
    private final Tags tags;
    private final LongAdder waiting = new LongAdder(); // of all keys
    private final LongAdder running = new LongAdder();
    private final TopKeys topKeys;
    private final RowMeters otherMeters;
    private final Map<TaskIdentity, Row.TaskState> tasks = new ConcurrentHashMap<>(); // from onSubmitted to onSettled

    private final WatchedExecutors executors = new WatchedExecutors();

    private TaskMeters(MeterRegistry registry, String prefix, String keyTag, int topKeys, Tags tags) {
        if (topKeys < 0) {
            throw new IllegalArgumentException("topKeys must be at least 0, was " + topKeys);
        }
        this.registry = registry;
        this.prefix = prefix;
        this.keyTag = keyTag;
        this.tags = tags;
        this.topKeys =
                new TopKeys(topKeys, registry.config().clock(), new Row(RowMeters.OTHER, 0), this::open, this::close);
        this.otherMeters = new RowMeters(
                registry,
                prefix,
                tags.and(keyTag, RowMeters.OTHER),
                this,
                meters -> meters.others(meters.running, row -> row.running),
                meters -> meters.others(meters.waiting, row -> row.waiting));
    }

    /**
     * Returns meters for groups, with {@value #DEFAULT_TOP_KEYS} top keys.
     *
     * @param registry the registry of the meters
     * @return a listener that updates the meters
     */
    public static TaskMeters forGroups(MeterRegistry registry) {
        return forGroups(registry, DEFAULT_TOP_KEYS, Tags.empty());
    }

    /**
     * Returns meters for groups.
     *
     * @param registry the registry of the meters
     * @param topKeys the maximum number of keys with meters of their own, at least 0
     * @param tags the tags of each meter, besides {@code group}
     * @return a listener that updates the meters
     * @throws IllegalArgumentException if {@code topKeys} is negative
     */
    public static TaskMeters forGroups(MeterRegistry registry, int topKeys, Tags tags) {
        return new TaskMeters(registry, RowMeters.GROUPS, "group", topKeys, tags);
    }

    /**
     * Returns meters for scopes, with {@value #DEFAULT_TOP_KEYS} top names.
     *
     * @param registry the registry of the meters
     * @return a listener that updates the meters
     */
    public static TaskMeters forScopes(MeterRegistry registry) {
        return forScopes(registry, DEFAULT_TOP_KEYS, Tags.empty());
    }

    /**
     * Returns meters for scopes.
     *
     * @param registry the registry of the meters
     * @param topKeys the maximum number of names with meters of their own, at least 0
     * @param tags the tags of each meter, besides {@code scope}
     * @return a listener that updates the meters
     * @throws IllegalArgumentException if {@code topKeys} is negative
     */
    public static TaskMeters forScopes(MeterRegistry registry, int topKeys, Tags tags) {
        return new TaskMeters(registry, "raddle.scope", "scope", topKeys, tags);
    }

    /**
     * Returns meters for flows, with {@value #DEFAULT_TOP_KEYS} top names.
     *
     * @param registry the registry of the meters
     * @return a listener that updates the meters
     */
    public static TaskMeters forFlows(MeterRegistry registry) {
        return forFlows(registry, DEFAULT_TOP_KEYS, Tags.empty());
    }

    /**
     * Returns meters for flows, whose nodes are the tasks.
     *
     * @param registry the registry of the meters
     * @param topKeys the maximum number of names with meters of their own, at least 0
     * @param tags the tags of each meter, besides {@code flow}
     * @return a listener that updates the meters
     * @throws IllegalArgumentException if {@code topKeys} is negative
     */
    public static TaskMeters forFlows(MeterRegistry registry, int topKeys, Tags tags) {
        return new TaskMeters(registry, "raddle.flow", "flow", topKeys, tags);
    }

    /**
     * Returns meters for the tasks of pools, with {@value #DEFAULT_TOP_KEYS} top names.
     *
     * @param registry the registry of the meters
     * @return a listener that updates the meters
     */
    public static TaskMeters forPools(MeterRegistry registry) {
        return forPools(registry, DEFAULT_TOP_KEYS, Tags.empty());
    }

    /**
     * Returns meters for the tasks of pools.
     *
     * @param registry the registry of the meters
     * @param topKeys the maximum number of names with meters of their own, at least 0
     * @param tags the tags of each meter, besides {@code pool}
     * @return a listener that updates the meters
     * @throws IllegalArgumentException if {@code topKeys} is negative
     */
    public static TaskMeters forPools(MeterRegistry registry, int topKeys, Tags tags) {
        return new TaskMeters(registry, "raddle.pool.task", "pool", topKeys, tags);
    }

    /**
     * Adds gauges of the limits of an executor that has this object as its listener: {@code raddle.group.limit} and
     * {@code raddle.group.queue.capacity} of each key with meters of its own, {@code raddle.group.cap},
     * {@code .cap.used} and {@code .queue.threshold} of the executor. A missing limit is infinite; the gauges of a
     * group that was evicted show no value. For several executors the gauges show the sums. The gauge
     * {@code raddle.group.breaker} of a key is 0 if its circuit breaker is closed, 1 if it is half-open, 2 if it is
     * open, and has no value without one; for several executors it is the highest.
     *
     * {@snippet :
     * TaskMeters meters = TaskMeters.forGroups(registry);
     * GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
     *         GroupPolicy.builder().addListener(meters).build());
     * meters.watch(executor);
     * }
     *
     * @param executor the executor, to which this object refers until it is {@linkplain #close closed}
     * @throws IllegalStateException if these are not the meters of groups
     */
    public void watch(GroupExecutor executor) {
        Objects.requireNonNull(executor, "executor");
        if (!keyTag.equals("group")) {
            throw new IllegalStateException("only meters of groups show limits, these are " + this);
        }
        executors.add(executor, registry, prefix, tags);
        topKeys.applyToAll(this::showLimits);
    }

    /**
     * Removes all meters from the registry, and with them their counts. Tasks that are still running or are submitted
     * later are not counted. Close this object after the executors, scopes or flows that it observes. Further calls
     * have no effect.
     */
    @Override
    public void close() {
        topKeys.removeAll();
        otherMeters.remove(registry);
        executors.remove(registry);
    }

    // TaskListener.

    @Override
    public void onSubmitted(TaskIdentity task) {
        Row row = topKeys.submitted(task.owner());
        row.waiting.increment();
        waiting.increment();
        tasks.put(task, row.waits);
        topKeys.makeChanges();
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        Row.TaskState state = tasks.get(task);
        if (state == null) {
            return;
        }
        Row row = state.row();
        RowMeters meters = metersOf(row);
        tasks.put(task, meters == otherMeters ? row.runsAmongOthers : row.runs);
        row.waiting.decrement();
        waiting.decrement();
        row.running.increment();
        running.increment();
        meters.started(waitNanos);
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        Row.TaskState state = tasks.remove(task);
        if (state == null) {
            return;
        }
        Row row = state.row();
        if (state.runs()) {
            row.running.decrement();
            running.decrement();
            (state.isAmongOthers() ? otherMeters : metersOf(row)).ended(outcome.status(), runNanos);
        } else {
            row.waiting.decrement();
            waiting.decrement();
            if (!(outcome instanceof Outcome.Rejected<?>)) {
                metersOf(row).endedUnstarted(outcome.status());
            }
        }
        if (outcome instanceof Outcome.Rejected<?> rejected) {
            metersOf(row).rejected(rejected.rejection().reason());
        }
    }

    @Override
    public void onChanged(OwnerChange change) {
        if (change.kind() == OwnerChange.Kind.BREAKER && change.owner() != null && change.after() != null) {
            Row row = topKeys.row(change.owner());
            (row == null ? otherMeters : metersOf(row)).breakerChanged(change.after());
        }
    }

    // Rows and their meters.

    private RowMeters metersOf(Row row) {
        RowMeters own = row.meters;
        return own == null ? otherMeters : own;
    }

    private void open(Row row) {
        row.meters = new RowMeters(
                registry,
                prefix,
                tags.and(keyTag, tagOf(row.key)),
                row,
                counts -> counts.running.sum(),
                counts -> counts.waiting.sum());
        if (!executors.isEmpty()) {
            showLimits(row);
        }
    }

    /** Returns a key; if it is long, cut and with a hash. Many systems of metrics refuse longer tags. */
    private static String tagOf(String key) {
        if (key.length() <= LONGEST_TAG) {
            return key;
        }
        String hash = HexFormat.of().toHexDigits(key.hashCode());
        int end = LONGEST_TAG - hash.length() - 1;
        return key.substring(0, Character.isHighSurrogate(key.charAt(end - 1)) ? end - 1 : end) + "…" + hash;
    }

    private void showLimits(Row row) {
        RowMeters meters = row.meters;
        if (meters != null) {
            meters.showLimits(registry, prefix, tags.and(keyTag, tagOf(row.key)), executors, row.key);
        }
    }

    private void close(Row row) {
        RowMeters meters = row.meters;
        row.meters = null;
        if (meters != null) {
            meters.remove(registry);
        }
    }

    /**
     * Returns the part of a sum over all keys that belongs to keys without a row, including keys that have lost theirs.
     */
    private double others(LongAdder all, Function<Row, LongAdder> ofRow) {
        long rest = all.sum();
        for (Row row : topKeys.rows()) {
            rest -= ofRow.apply(row).sum();
        }
        return Math.max(0, rest); // tasks may end while this method adds
    }

    /** Returns the number of remembered keys, except those of tasks that have not ended. */
    int rememberedKeys() {
        return topKeys.remembered();
    }

    /** Returns the number of tasks that have not ended. */
    int rememberedTasks() {
        return tasks.size();
    }

    @Override
    public String toString() {
        return "meters " + prefix + ", " + topKeys.rows().size() + " keys with meters of their own";
    }
}
