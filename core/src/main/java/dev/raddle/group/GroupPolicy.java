package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a {@link GroupExecutor}: how many tasks of a group run and wait, what the groups share, what becomes of tasks
 * for which there is no room. Immutable, checked when built, and usable for any number of executors.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .concurrencyResolver(key -> key.startsWith("vip:") ? 4 : 1)
 *         .globalMaxInFlight(256)
 *         .defaultQueueThresholdPerGroup(100)
 *         .queueTimeout(Duration.ofSeconds(2))
 *         .build();
 * }
 */
public final class GroupPolicy {

    /** A global cap that keeps CPU-bound groups from delaying everybody else's start: four times the number of processors. */
    public static final int AUTO = 4 * Runtime.getRuntime().availableProcessors();

    private final Map<String, Integer> perGroupMaxConcurrency;
    private final @Nullable ToIntFunction<String> concurrencyResolver;
    private final int defaultMaxConcurrencyPerGroup;
    private final int globalMaxInFlight;
    private final int globalQueueThreshold;
    private final int defaultMaxInFlightPerGroup;
    private final Map<String, Integer> perGroupMaxInFlight;
    private final int defaultQueueThresholdPerGroup;
    private final Map<String, Integer> perGroupQueueThreshold;
    private final @Nullable Duration queueTimeout;
    private final @Nullable ToIntFunction<String> weightResolver;
    private final RejectionPolicy rejectionPolicy;
    private final @Nullable RejectionHandler rejectionHandler;
    private final @Nullable TaskLifecycleListener taskLifecycleListener;
    private final @Nullable TaskListener taskListener;
    private final Duration idleGroupTtl;
    private final int maxIdleGroups;
    private final @Nullable Function<String, Scheduler> scheduler;
    private final boolean reuseThreads;
    private final Duration closeTimeout;
    private final List<ContextPropagator> propagators;
    private final List<ScopedValue<?>> scopedValues;
    private final ExceptionSink exceptionSink;
    private final TimeSource timeSource;

    private GroupPolicy(Builder builder, RejectionPolicy rejectionPolicy) {
        this.perGroupMaxConcurrency = builder.perGroupMaxConcurrency;
        this.concurrencyResolver = builder.concurrencyResolver;
        this.defaultMaxConcurrencyPerGroup = builder.defaultMaxConcurrencyPerGroup;
        this.globalMaxInFlight = builder.globalMaxInFlight;
        this.globalQueueThreshold = builder.globalQueueThreshold;
        this.defaultMaxInFlightPerGroup = builder.defaultMaxInFlightPerGroup;
        this.perGroupMaxInFlight = builder.perGroupMaxInFlight;
        this.defaultQueueThresholdPerGroup = builder.defaultQueueThresholdPerGroup;
        this.perGroupQueueThreshold = builder.perGroupQueueThreshold;
        this.queueTimeout = builder.queueTimeout;
        this.weightResolver = builder.weightResolver;
        this.rejectionPolicy = rejectionPolicy;
        this.rejectionHandler = builder.rejectionHandler;
        this.taskLifecycleListener = builder.taskLifecycleListener;
        this.taskListener = builder.taskListener;
        this.idleGroupTtl = builder.idleGroupTtl;
        this.maxIdleGroups = builder.maxIdleGroups;
        this.scheduler = builder.scheduler;
        this.reuseThreads = builder.reuseThreads;
        this.closeTimeout = builder.closeTimeout;
        this.propagators = builder.propagators;
        this.scopedValues = builder.scopedValues;
        this.exceptionSink = builder.exceptionSink == null ? ExceptionSink.logging() : builder.exceptionSink;
        this.timeSource = builder.timeSource;
    }

    /**
     * Returns a builder with the defaults: one task of a group at a time, everything else unlimited, ABORT.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns how many tasks of a group run at once: what is set for the key, else what the resolver says, where less than 1
     * means 1, else the default. A resolver that throws counts as none; what it threw goes to the {@link #exceptionSink()}.
     *
     * @param groupKey the key of the group
     * @return at least 1
     */
    public int resolveConcurrency(String groupKey) {
        Integer own = perGroupMaxConcurrency.get(Objects.requireNonNull(groupKey, "groupKey"));
        return own != null
                ? own
                : resolve(concurrencyResolver, "concurrencyResolver", groupKey, defaultMaxConcurrencyPerGroup);
    }

    /**
     * Returns how many tasks of a group may execute at once, whatever its concurrency is.
     *
     * @param groupKey the key of the group
     * @return at least 1
     */
    public int resolveMaxInFlight(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        return perGroupMaxInFlight.getOrDefault(groupKey, defaultMaxInFlightPerGroup);
    }

    /**
     * Returns how many tasks of a group may wait.
     *
     * @param groupKey the key of the group
     * @return at least 0
     */
    public int resolveQueueThreshold(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        return perGroupQueueThreshold.getOrDefault(groupKey, defaultQueueThresholdPerGroup);
    }

    /**
     * Returns a group's share of the global cap relative to the others: what the resolver says, where less than 1 means 1.
     *
     * @param groupKey the key of the group
     * @return at least 1
     */
    public int resolveWeight(String groupKey) {
        return resolve(weightResolver, "weightResolver", Objects.requireNonNull(groupKey, "groupKey"), 1);
    }

    /**
     * Returns where the tasks of a group run: where the policy says, or on fresh virtual threads.
     *
     * @param groupKey the key of the group
     * @return the scheduler
     */
    public Scheduler resolveScheduler(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        if (scheduler == null) {
            return Scheduler.virtualThreads();
        }
        try {
            return Objects.requireNonNull(scheduler.apply(groupKey), "the function returned no scheduler");
        } catch (Throwable failure) {
            exceptionSink.report("scheduler function for group \"" + groupKey + "\"", failure);
            return Scheduler.virtualThreads();
        }
    }

    boolean hasScheduler() {
        return scheduler != null;
    }

    private int resolve(@Nullable ToIntFunction<String> resolver, String name, String groupKey, int otherwise) {
        if (resolver == null) {
            return otherwise;
        }
        try {
            return Math.max(1, resolver.applyAsInt(groupKey));
        } catch (Throwable failure) {
            exceptionSink.report(name + " for group \"" + groupKey + "\"", failure);
            return otherwise;
        }
    }

    /**
     * Returns the concurrency set for single groups.
     *
     * @return an unmodifiable map
     */
    public Map<String, Integer> perGroupMaxConcurrency() {
        return perGroupMaxConcurrency;
    }

    /**
     * Returns the function that knows the concurrency of groups for which none is set.
     *
     * @return the resolver, or null
     */
    public @Nullable ToIntFunction<String> concurrencyResolver() {
        return concurrencyResolver;
    }

    /**
     * Returns the concurrency of groups for which nothing else is said.
     *
     * @return at least 1
     */
    public int defaultMaxConcurrencyPerGroup() {
        return defaultMaxConcurrencyPerGroup;
    }

    /**
     * Returns the cap on the slots taken in all groups together.
     *
     * @return at least 1; {@link Integer#MAX_VALUE} means none
     */
    public int globalMaxInFlight() {
        return globalMaxInFlight;
    }

    /**
     * Returns how many tasks may wait in all groups together.
     *
     * @return at least 0; {@link Integer#MAX_VALUE} means any number
     */
    public int globalQueueThreshold() {
        return globalQueueThreshold;
    }

    /**
     * Returns the bulkhead of groups for which none is set.
     *
     * @return at least 1
     */
    public int defaultMaxInFlightPerGroup() {
        return defaultMaxInFlightPerGroup;
    }

    /**
     * Returns the bulkheads set for single groups.
     *
     * @return an unmodifiable map
     */
    public Map<String, Integer> perGroupMaxInFlight() {
        return perGroupMaxInFlight;
    }

    /**
     * Returns how many tasks may wait in a group for which nothing else is said.
     *
     * @return at least 0
     */
    public int defaultQueueThresholdPerGroup() {
        return defaultQueueThresholdPerGroup;
    }

    /**
     * Returns the queue thresholds set for single groups.
     *
     * @return an unmodifiable map
     */
    public Map<String, Integer> perGroupQueueThreshold() {
        return perGroupQueueThreshold;
    }

    /**
     * Returns how long a task may wait.
     *
     * @return the longest wait, or null if there is none
     */
    public @Nullable Duration queueTimeout() {
        return queueTimeout;
    }

    /**
     * Returns the function that knows the groups' weights.
     *
     * @return the resolver, or null if all weigh the same
     */
    public @Nullable ToIntFunction<String> weightResolver() {
        return weightResolver;
    }

    /**
     * Returns what becomes of tasks for which there is no room, if there is no handler.
     *
     * @return the policy
     */
    public RejectionPolicy rejectionPolicy() {
        return rejectionPolicy;
    }

    /**
     * Returns who decides what becomes of tasks for which there is no room.
     *
     * @return the handler, or null
     */
    public @Nullable RejectionHandler rejectionHandler() {
        return rejectionHandler;
    }

    /**
     * Returns who hears of every task.
     *
     * @return the listener, or null
     */
    public @Nullable TaskLifecycleListener taskLifecycleListener() {
        return taskLifecycleListener;
    }

    /**
     * Returns who hears of every task, with times, in the words that all doors share.
     *
     * @return the listener, or null
     */
    public @Nullable TaskListener taskListener() {
        return taskListener;
    }

    /**
     * Returns how long a group in which nothing runs and waits is remembered.
     *
     * @return not negative
     */
    public Duration idleGroupTtl() {
        return idleGroupTtl;
    }

    /**
     * Returns how many such groups are remembered.
     *
     * @return at least 0
     */
    public int maxIdleGroups() {
        return maxIdleGroups;
    }

    /**
     * Returns whether a thread that has run a task goes on with the next waiting one of the same group.
     *
     * @return false if every task gets a thread of its own
     */
    public boolean reuseThreads() {
        return reuseThreads;
    }

    /**
     * Returns how long {@link GroupExecutor#close()} lets accepted tasks go on.
     *
     * @return not negative
     */
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /**
     * Returns what carries further contexts from submitters into tasks.
     *
     * @return an unmodifiable list
     */
    public List<ContextPropagator> propagators() {
        return propagators;
    }

    /**
     * Returns the scoped values that are bound in tasks as they were bound in submitters.
     *
     * @return an unmodifiable list
     */
    public List<ScopedValue<?>> scopedValues() {
        return scopedValues;
    }

    /**
     * Returns where exceptions go that must not change what happens to a task. It also counts them.
     *
     * @return the sink
     */
    public ExceptionSink exceptionSink() {
        return exceptionSink;
    }

    /**
     * Returns the clock.
     *
     * @return the time source
     */
    public TimeSource timeSource() {
        return timeSource;
    }

    /** Collects the rules. Belongs to one thread; what it built does not change when it is used again. */
    public static final class Builder {

        private Map<String, Integer> perGroupMaxConcurrency = Map.of();
        private @Nullable ToIntFunction<String> concurrencyResolver;
        private int defaultMaxConcurrencyPerGroup = 1;
        private int globalMaxInFlight = FairCap.UNLIMITED;
        private int globalQueueThreshold = FairCap.UNLIMITED;
        private int defaultMaxInFlightPerGroup = Integer.MAX_VALUE;
        private Map<String, Integer> perGroupMaxInFlight = Map.of();
        private int defaultQueueThresholdPerGroup = Integer.MAX_VALUE;
        private Map<String, Integer> perGroupQueueThreshold = Map.of();
        private @Nullable Duration queueTimeout;
        private @Nullable ToIntFunction<String> weightResolver;
        private @Nullable RejectionPolicy rejectionPolicy = RejectionPolicy.ABORT;
        private @Nullable RejectionHandler rejectionHandler;
        private @Nullable TaskLifecycleListener taskLifecycleListener;
        private @Nullable TaskListener taskListener;
        private Duration idleGroupTtl = Duration.ofSeconds(60);
        private int maxIdleGroups = 65_536;
        private @Nullable Function<String, Scheduler> scheduler;
        private boolean reuseThreads;
        private Duration closeTimeout = Duration.ofSeconds(30);
        private List<ContextPropagator> propagators = List.of();
        private List<ScopedValue<?>> scopedValues = List.of();
        private @Nullable ExceptionSink exceptionSink;
        private TimeSource timeSource = TimeSource.system();

        private Builder() {}

        /**
         * Sets how many tasks of single groups run at once. For these groups the resolver is not asked.
         *
         * @param limits at least 1 for each key; copied; null means none
         * @return this builder
         */
        public Builder perGroupMaxConcurrency(@Nullable Map<String, Integer> limits) {
            perGroupMaxConcurrency = copy(limits);
            return this;
        }

        /**
         * Sets the function that knows how many tasks of a group run at once. It is called once in a group's life, by the
         * thread that submits the group's first task, outside every lock; it may use the executor, but must not wait for a
         * task of the group it is asked about.
         *
         * @param resolver returns the concurrency for a key, where less than 1 means 1; null means none
         * @return this builder
         */
        public Builder concurrencyResolver(@Nullable ToIntFunction<String> resolver) {
            concurrencyResolver = resolver;
            return this;
        }

        /**
         * Sets how many tasks run at once in groups for which nothing else is said. The default is 1.
         *
         * @param limit at least 1
         * @return this builder
         */
        public Builder defaultMaxConcurrencyPerGroup(int limit) {
            defaultMaxConcurrencyPerGroup = limit;
            return this;
        }

        /**
         * Sets how many slots may be taken in all groups together. Tasks beyond that wait; a waiting task takes no slot.
         *
         * @param cap at least 1, or {@link GroupPolicy#AUTO}; {@link Integer#MAX_VALUE}, the default, means any number
         * @return this builder
         */
        public Builder globalMaxInFlight(int cap) {
            globalMaxInFlight = cap;
            return this;
        }

        /**
         * Sets how many tasks may wait in all groups together, whatever they wait for.
         *
         * @param threshold at least 0; {@link Integer#MAX_VALUE}, the default, means any number
         * @return this builder
         */
        public Builder globalQueueThreshold(int threshold) {
            globalQueueThreshold = threshold;
            return this;
        }

        /**
         * Sets the bulkhead of groups for which none is set: how many of their tasks may execute at once, whatever their
         * concurrency is. The smaller of the two is in force.
         *
         * @param limit at least 1
         * @return this builder
         */
        public Builder defaultMaxInFlightPerGroup(int limit) {
            defaultMaxInFlightPerGroup = limit;
            return this;
        }

        /**
         * Sets the bulkheads of single groups.
         *
         * @param limits at least 1 for each key; copied; null means none
         * @return this builder
         */
        public Builder perGroupMaxInFlight(@Nullable Map<String, Integer> limits) {
            perGroupMaxInFlight = copy(limits);
            return this;
        }

        /**
         * Sets how many tasks may wait in a group for which nothing else is said.
         *
         * @param threshold at least 0, where 0 means that tasks start at once or are rejected
         * @return this builder
         */
        public Builder defaultQueueThresholdPerGroup(int threshold) {
            defaultQueueThresholdPerGroup = threshold;
            return this;
        }

        /**
         * Sets how many tasks may wait in single groups.
         *
         * @param thresholds at least 0 for each key; copied; null means none
         * @return this builder
         */
        public Builder perGroupQueueThreshold(@Nullable Map<String, Integer> thresholds) {
            perGroupQueueThreshold = copy(thresholds);
            return this;
        }

        /**
         * Sets how long a task may wait before it is rejected.
         *
         * @param longest not negative; null, the default, means any time
         * @return this builder
         */
        public Builder queueTimeout(@Nullable Duration longest) {
            queueTimeout = longest;
            return this;
        }

        /**
         * Sets the function that knows a group's share of the global cap relative to the others. Called as the concurrency
         * resolver is.
         *
         * @param resolver returns the weight for a key, where less than 1 means 1; null, the default, means all weigh 1
         * @return this builder
         */
        public Builder weightResolver(@Nullable ToIntFunction<String> resolver) {
            weightResolver = resolver;
            return this;
        }

        /**
         * Sets what becomes of tasks for which there is no room. The default is ABORT.
         *
         * @param policy not null, or {@link #build()} refuses
         * @return this builder
         */
        public Builder rejectionPolicy(@Nullable RejectionPolicy policy) {
            rejectionPolicy = policy;
            return this;
        }

        /**
         * Sets who decides what becomes of tasks for which there is no room.
         *
         * @param handler takes the place of the rejection policy; null, the default, means that the policy decides
         * @return this builder
         */
        public Builder rejectionHandler(@Nullable RejectionHandler handler) {
            rejectionHandler = handler;
            return this;
        }

        /**
         * Sets who hears of every task.
         *
         * @param listener the listener, or null for none
         * @return this builder
         */
        public Builder taskLifecycleListener(@Nullable TaskLifecycleListener listener) {
            taskLifecycleListener = listener;
            return this;
        }

        /**
         * Sets who hears of every task, with times, in the words that all doors share. {@link TaskListener#and} makes one
         * listener of several.
         *
         * @param listener the listener, or null for none
         * @return this builder
         */
        public Builder taskListener(@Nullable TaskListener listener) {
            taskListener = listener;
            return this;
        }

        /**
         * Sets how long a group in which nothing runs and waits is remembered: its limits are not looked up again, and it
         * owes the cap what it owed. The default is 60 seconds.
         *
         * @param ttl not negative; zero means that an idle group is forgotten at once
         * @return this builder
         */
        public Builder idleGroupTtl(Duration ttl) {
            idleGroupTtl = ttl;
            return this;
        }

        /**
         * Sets how many idle groups are remembered. The default is 65 536.
         *
         * @param count at least 0
         * @return this builder
         */
        public Builder maxIdleGroups(int count) {
            maxIdleGroups = count;
            return this;
        }

        /**
         * Sets where the tasks of each group run. Called as the concurrency resolver is.
         *
         * @param function returns the scheduler for a key; null, the default, means fresh virtual threads
         * @return this builder
         */
        public Builder scheduler(@Nullable Function<String, Scheduler> function) {
            scheduler = function;
            return this;
        }

        /**
         * Sets whether a thread that has run a task goes on with the next waiting one of the same group, which is faster.
         * Interrupts and task contexts do not cross from one task to the next, thread-locals do.
         *
         * @param reuse the default is false
         * @return this builder
         */
        public Builder reuseThreads(boolean reuse) {
            reuseThreads = reuse;
            return this;
        }

        /**
         * Sets how long {@link GroupExecutor#close()} lets accepted tasks go on before it interrupts them. The default is 30
         * seconds.
         *
         * @param timeout not negative
         * @return this builder
         */
        public Builder closeTimeout(Duration timeout) {
            closeTimeout = timeout;
            return this;
        }

        /**
         * Sets what carries further contexts, such as those of logging and tracing, from submitters into tasks.
         *
         * @param list installed in this order around each task, restored in the reverse; copied
         * @return this builder
         */
        public Builder propagators(List<ContextPropagator> list) {
            propagators = List.copyOf(list);
            return this;
        }

        /**
         * Sets the scoped values that are bound in tasks as they were bound in submitters; one that the submitter has not
         * bound is not bound in the task either.
         *
         * @param list copied
         * @return this builder
         */
        public Builder scopedValues(List<ScopedValue<?>> list) {
            scopedValues = List.copyOf(list);
            return this;
        }

        /**
         * Sets where exceptions go that must not change what happens to a task, such as those of listeners and resolvers.
         *
         * @param sink the default writes to the system logger, a limited number of messages a minute
         * @return this builder
         */
        public Builder exceptionSink(ExceptionSink sink) {
            exceptionSink = Objects.requireNonNull(sink, "exceptionSink");
            return this;
        }

        /**
         * Sets the clock.
         *
         * @param time the default is {@link TimeSource#system()}
         * @return this builder
         */
        public Builder timeSource(TimeSource time) {
            timeSource = Objects.requireNonNull(time, "timeSource");
            return this;
        }

        /**
         * Checks the rules and puts them together.
         *
         * @return the policy
         * @throws IllegalArgumentException if any number is out of its range, naming all that are
         */
        public GroupPolicy build() {
            List<String> errors = new ArrayList<>();
            atLeast(1, "defaultMaxConcurrencyPerGroup", defaultMaxConcurrencyPerGroup, errors);
            atLeast(1, "globalMaxInFlight", globalMaxInFlight, errors);
            atLeast(1, "defaultMaxInFlightPerGroup", defaultMaxInFlightPerGroup, errors);
            atLeast(0, "globalQueueThreshold", globalQueueThreshold, errors);
            atLeast(0, "defaultQueueThresholdPerGroup", defaultQueueThresholdPerGroup, errors);
            atLeast(0, "maxIdleGroups", maxIdleGroups, errors);
            perGroupMaxConcurrency.forEach((key, n) -> atLeast(1, of("perGroupMaxConcurrency", key), n, errors));
            perGroupMaxInFlight.forEach((key, n) -> atLeast(1, of("perGroupMaxInFlight", key), n, errors));
            perGroupQueueThreshold.forEach((key, n) -> atLeast(0, of("perGroupQueueThreshold", key), n, errors));
            notNegative("queueTimeout", queueTimeout == null ? Duration.ZERO : queueTimeout, errors);
            notNegative("idleGroupTtl", idleGroupTtl, errors);
            notNegative("closeTimeout", closeTimeout, errors);
            RejectionPolicy policy = rejectionPolicy;
            if (policy == null) {
                errors.add("rejectionPolicy must be one of ABORT, DISCARD, CALLER_RUNS, was null");
            }
            if (!errors.isEmpty() || policy == null) {
                throw new IllegalArgumentException(String.join("; ", errors));
            }
            return new GroupPolicy(this, policy);
        }

        private static Map<String, Integer> copy(@Nullable Map<String, Integer> map) {
            return map == null ? Map.of() : Collections.unmodifiableMap(new HashMap<>(map));
        }

        private static String of(String map, @Nullable String key) {
            return map + " of group \"" + key + "\"";
        }

        private static void atLeast(int least, String name, @Nullable Integer value, List<String> errors) {
            if (value == null || value < least) {
                errors.add(name + " must be at least " + least + ", was " + value);
            }
        }

        private static void notNegative(String name, @Nullable Duration value, List<String> errors) {
            if (value == null || value.isNegative()) {
                errors.add(name + " must not be negative, was " + value);
            }
        }
    }
}
