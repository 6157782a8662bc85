package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.Propagation;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a {@link GroupExecutor}: how many tasks of a group run and wait, the limits that all groups share, and
 * the treatment of rejected tasks. Immutable, checked when built, and usable for any number of executors.
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

    /**
     * A global cap that keeps CPU-bound groups from delaying the others' starts: four times the number of processors.
     */
    public static final int AUTO = 4 * Runtime.getRuntime().availableProcessors();

    private final Builder settings; // a copy, whose values were checked

    private GroupPolicy(Builder settings) {
        this.settings = settings;
    }

    /**
     * Returns a builder with the defaults: one task of a group at a time, everything else unlimited, ABORT.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return the name of the executors of this policy, or null if they have none} */
    public @Nullable String name() {
        return settings.name;
    }

    /**
     * Returns how many tasks of a group may run at once: the number set for the key, else the result of the resolver,
     * where less than 1 means 1, else the default. If the resolver throws, the default holds, and the exception is
     * reported to the sink.
     *
     * @param groupKey the key of the group
     * @return the concurrency, at least 1
     */
    public int resolveConcurrency(String groupKey) {
        Integer configured = settings.perGroupMaxConcurrency.get(Objects.requireNonNull(groupKey, "groupKey"));
        int fallback = settings.defaultMaxConcurrencyPerGroup;
        return configured != null
                ? configured
                : resolve("concurrencyResolver", groupKey, settings.concurrencyResolver, fallback);
    }

    /**
     * Returns the bulkhead of a group: how many of its tasks may execute at once, regardless of its concurrency.
     *
     * @param groupKey the key of the group
     * @return the bulkhead, at least 1
     */
    public int resolveMaxInFlight(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        return settings.perGroupMaxInFlight.getOrDefault(groupKey, settings.defaultMaxInFlightPerGroup);
    }

    /**
     * Returns how many tasks of a group may wait.
     *
     * @param groupKey the key of the group
     * @return the queue threshold, at least 0
     */
    public int resolveQueueThreshold(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        return settings.perGroupQueueThreshold.getOrDefault(groupKey, settings.defaultQueueThresholdPerGroup);
    }

    /**
     * Returns how many tasks of a group may start per time: the rate set for the key, else the result of the resolver,
     * else the default. If the resolver throws, the default holds, and the exception is reported to the sink.
     *
     * @param groupKey the key of the group
     * @return the rate, or null if the group has none
     */
    public @Nullable Rate resolveRate(String groupKey) {
        Rate configured = settings.perGroupRate.get(Objects.requireNonNull(groupKey, "groupKey"));
        if (configured != null || settings.rateResolver == null) {
            return configured != null ? configured : settings.defaultRatePerGroup;
        }
        return call("rateResolver", groupKey, settings.rateResolver, settings.defaultRatePerGroup);
    }

    /** Returns a group's share of the global cap relative to the others. */
    int resolveWeight(String groupKey) {
        return resolve("weightResolver", groupKey, settings.weightResolver, 1);
    }

    /** Returns the adaptive limit of a group, which replaces its concurrency, or null if the group has none. */
    @Nullable
    AdaptiveLimit resolveAdaptiveLimit(String groupKey) {
        Function<String, @Nullable AdaptiveLimit> function = settings.adaptiveLimit;
        return function == null ? null : call("adaptiveLimit", groupKey, function, null);
    }

    /** Returns the circuit breaker of a group, or null if it has none. */
    @Nullable
    CircuitBreaker resolveBreaker(String groupKey) {
        Function<String, @Nullable CircuitBreaker> function = settings.breaker;
        return function == null ? null : call("breaker", groupKey, function, null);
    }

    /** Returns the scheduler of a group; fresh virtual threads if none is set. */
    Scheduler resolveScheduler(String groupKey) {
        Function<String, Scheduler> function = settings.scheduler;
        Scheduler fallback = Scheduler.virtualThreads();
        if (function == null) {
            return fallback;
        }
        Function<String, Scheduler> checked =
                key -> Objects.requireNonNull(function.apply(key), "the function returned no scheduler");
        return call("scheduler function", groupKey, checked, fallback);
    }

    private int resolve(String name, String groupKey, @Nullable ToIntFunction<String> resolver, int fallback) {
        Objects.requireNonNull(groupKey, "groupKey");
        return resolver == null
                ? fallback
                : call(name, groupKey, key -> Math.max(1, resolver.applyAsInt(key)), fallback);
    }

    /** Calls a function of the user. If it throws, reports that and returns the fallback. */
    private <V extends @Nullable Object> V call(String name, String groupKey, Function<String, V> user, V fallback) {
        try {
            return user.apply(groupKey);
        } catch (Throwable failure) {
            exceptionSink().report(name + " for group \"" + groupKey + "\"", failure);
            return fallback;
        }
    }

    boolean hasRates() {
        return settings.globalRate != null
                || settings.defaultRatePerGroup != null
                || settings.rateResolver != null
                || !settings.perGroupRate.isEmpty();
    }

    /** {@return the concurrency set for single groups, as an unmodifiable map} */
    public Map<String, Integer> perGroupMaxConcurrency() {
        return settings.perGroupMaxConcurrency;
    }

    /** {@return the function that determines the concurrency of groups for which none is set, or null} */
    public @Nullable ToIntFunction<String> concurrencyResolver() {
        return settings.concurrencyResolver;
    }

    /** {@return the concurrency of groups for which neither a number nor a resolver is set, at least 1} */
    public int defaultMaxConcurrencyPerGroup() {
        return settings.defaultMaxConcurrencyPerGroup;
    }

    /** {@return the cap on the slots taken in all groups together; {@link Integer#MAX_VALUE} if there is none} */
    public int globalMaxInFlight() {
        return settings.globalMaxInFlight;
    }

    /** {@return how many tasks may wait in all groups together; {@link Integer#MAX_VALUE} if any number may} */
    public int globalQueueThreshold() {
        return settings.globalQueueThreshold;
    }

    /** {@return the bulkhead of groups for which none is set, at least 1} */
    public int defaultMaxInFlightPerGroup() {
        return settings.defaultMaxInFlightPerGroup;
    }

    /** {@return the bulkheads set for single groups, as an unmodifiable map} */
    public Map<String, Integer> perGroupMaxInFlight() {
        return settings.perGroupMaxInFlight;
    }

    /** {@return how many tasks may wait in a group for which no threshold is set, at least 0} */
    public int defaultQueueThresholdPerGroup() {
        return settings.defaultQueueThresholdPerGroup;
    }

    /** {@return the queue thresholds set for single groups, as an unmodifiable map} */
    public Map<String, Integer> perGroupQueueThreshold() {
        return settings.perGroupQueueThreshold;
    }

    /** {@return how long a task may wait before it is rejected, or null if there is no limit} */
    public @Nullable Duration queueTimeout() {
        return settings.queueTimeout;
    }

    /** {@return how many tasks of all groups together may start per time, or null if there is no bound} */
    public @Nullable Rate globalRate() {
        return settings.globalRate;
    }

    /** {@return the source of the permits that tasks need, or null if they need none} */
    public @Nullable PermitSource permits() {
        return settings.permits;
    }

    /** {@return how rejected tasks are treated if there is no handler} */
    public RejectionPolicy rejectionPolicy() {
        return Objects.requireNonNull(settings.rejectionPolicy);
    }

    /** {@return the handler of rejected tasks, or null if there is none} */
    public @Nullable RejectionHandler rejectionHandler() {
        return settings.rejectionHandler;
    }

    /** {@return the listener that is notified of every task, or null if there is none} */
    public @Nullable TaskLifecycleListener taskLifecycleListener() {
        return settings.taskLifecycleListener;
    }

    /** {@return how long a group without tasks is kept} */
    public Duration idleGroupTtl() {
        return settings.idleGroupTtl;
    }

    /** {@return how many groups without tasks are kept} */
    public int maxIdleGroups() {
        return settings.maxIdleGroups;
    }

    /** {@return whether a thread that has run a task runs the next waiting task of the same group} */
    public boolean reuseThreads() {
        return settings.reuseThreads;
    }

    /**
     * Returns how long {@link GroupExecutor#close()} waits for accepted tasks.
     *
     * @return the timeout, not negative
     */
    public Duration closeTimeout() {
        return settings.closeTimeout;
    }

    ExceptionSink exceptionSink() {
        return settings.propagation.sink();
    }

    LostPermitPolicy lostPermits() {
        return settings.lostPermits;
    }

    @Nullable
    TaskListener taskListener() {
        return settings.taskListener;
    }

    /** Returns the listener that notifies both listeners, or null if there is none. */
    @Nullable
    TaskListener listeners() {
        TaskLifecycleListener lifecycle = settings.taskLifecycleListener;
        TaskListener listener = settings.taskListener;
        if (lifecycle == null) {
            return listener;
        }
        LifecycleAdapter adapter = new LifecycleAdapter(lifecycle, exceptionSink());
        return listener == null ? adapter : adapter.and(listener);
    }

    /** Returns the propagation of a submitter's context to its tasks. */
    Propagation propagation() {
        return settings.propagation;
    }

    boolean adaptsLimits() {
        return settings.adaptiveLimit != null;
    }

    boolean hasBreakers() {
        return settings.breaker != null;
    }

    boolean hasSchedulers() {
        return settings.scheduler != null;
    }

    /** {@return the time source} */
    public TimeSource timeSource() {
        return settings.timeSource;
    }

    /**
     * Builds policies. For use by one thread. A policy that was built does not change when its builder is used again.
     */
    public static final class Builder implements Cloneable {

        // What is set here is a policy's when it is built: the policy has a copy of its builder.
        private @Nullable String name;
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
        private @Nullable Function<String, @Nullable AdaptiveLimit> adaptiveLimit;
        private @Nullable Function<String, @Nullable CircuitBreaker> breaker;
        private Map<String, Rate> perGroupRate = Map.of();
        private @Nullable Function<String, @Nullable Rate> rateResolver;
        private @Nullable Rate defaultRatePerGroup;
        private @Nullable Rate globalRate;
        private @Nullable PermitSource permits;
        private LostPermitPolicy lostPermits = LostPermitPolicy.INTERRUPT;
        private @Nullable RejectionPolicy rejectionPolicy = RejectionPolicy.ABORT;
        private @Nullable RejectionHandler rejectionHandler;
        private @Nullable TaskLifecycleListener taskLifecycleListener;
        private @Nullable TaskListener taskListener;
        private Duration idleGroupTtl = Duration.ofSeconds(60);
        private int maxIdleGroups = 65_536;
        private @Nullable Function<String, Scheduler> scheduler;
        private boolean reuseThreads;
        private Duration closeTimeout = Duration.ofSeconds(30);
        private Propagation propagation = Propagation.plain(false); // with the sink of all exceptions
        private TimeSource timeSource = TimeSource.system();

        private Builder() {}

        /**
         * Sets the name of the executors of this policy, which {@link dev.raddle.task.Rejection rejections} show.
         *
         * @param name the name; null means none
         * @return this builder
         */
        public Builder name(@Nullable String name) {
            this.name = name;
            return this;
        }

        /**
         * Sets how many tasks of single groups run at once. For these groups the resolver is not called.
         *
         * @param limits the limits by key, each at least 1; copied; null means none
         * @return this builder
         */
        public Builder perGroupMaxConcurrency(@Nullable Map<String, Integer> limits) {
            perGroupMaxConcurrency = copy(limits);
            return this;
        }

        /**
         * Sets the function that determines how many tasks of a group run at once. It is called once in a group's
         * lifetime, in the thread that submits the group's first task, outside every lock. It may use the executor, but
         * must not wait for a task of the group whose key it is called with.
         *
         * @param resolver the function from a key to the concurrency, where less than 1 means 1; null means none
         * @return this builder
         */
        public Builder concurrencyResolver(@Nullable ToIntFunction<String> resolver) {
            concurrencyResolver = resolver;
            return this;
        }

        /**
         * Sets how many tasks run at once in groups for which neither a number nor a resolver is set. The default is 1.
         *
         * @param limit the limit, at least 1
         * @return this builder
         */
        public Builder defaultMaxConcurrencyPerGroup(int limit) {
            defaultMaxConcurrencyPerGroup = limit;
            return this;
        }

        /**
         * Sets how many slots may be taken in all groups together. Tasks beyond that wait; a waiting task takes no
         * slot.
         *
         * @param cap the cap, at least 1, such as {@link GroupPolicy#AUTO}; {@link Integer#MAX_VALUE}, the default,
         *     means no cap
         * @return this builder
         */
        public Builder globalMaxInFlight(int cap) {
            globalMaxInFlight = cap;
            return this;
        }

        /**
         * Sets how many tasks may wait in all groups together, regardless of the limit that they wait for.
         *
         * @param threshold the threshold, at least 0; {@link Integer#MAX_VALUE}, the default, means any number
         * @return this builder
         */
        public Builder globalQueueThreshold(int threshold) {
            globalQueueThreshold = threshold;
            return this;
        }

        /**
         * Sets the bulkhead of groups for which none is set: how many of their tasks may execute at once, regardless of
         * their concurrency. The smaller of the two limits holds.
         *
         * @param limit the limit, at least 1
         * @return this builder
         */
        public Builder defaultMaxInFlightPerGroup(int limit) {
            defaultMaxInFlightPerGroup = limit;
            return this;
        }

        /**
         * Sets the bulkheads of single groups.
         *
         * @param limits the limits by key, each at least 1; copied; null means none
         * @return this builder
         */
        public Builder perGroupMaxInFlight(@Nullable Map<String, Integer> limits) {
            perGroupMaxInFlight = copy(limits);
            return this;
        }

        /**
         * Sets how many tasks may wait in a group for which no threshold is set.
         *
         * @param threshold the threshold, at least 0, where 0 means that tasks start at once or are rejected
         * @return this builder
         */
        public Builder defaultQueueThresholdPerGroup(int threshold) {
            defaultQueueThresholdPerGroup = threshold;
            return this;
        }

        /**
         * Sets how many tasks may wait in single groups.
         *
         * @param thresholds the thresholds by key, each at least 0; copied; null means none
         * @return this builder
         */
        public Builder perGroupQueueThreshold(@Nullable Map<String, Integer> thresholds) {
            perGroupQueueThreshold = copy(thresholds);
            return this;
        }

        /**
         * Sets how long a task may wait before it is rejected.
         *
         * @param timeout the longest wait, not negative; null, the default, means no limit
         * @return this builder
         */
        public Builder queueTimeout(@Nullable Duration timeout) {
            queueTimeout = timeout;
            return this;
        }

        /**
         * Sets the function that determines a group's share of the global cap relative to the others. It is called
         * under the same rules as the concurrency resolver.
         *
         * @param resolver the function from a key to the weight, where less than 1 means 1; null, the default, means
         *     that all weights are 1
         * @return this builder
         */
        public Builder weightResolver(@Nullable ToIntFunction<String> resolver) {
            weightResolver = resolver;
            return this;
        }

        /**
         * Sets the function that determines which groups have a limit that follows what their callee can bear, in place
         * of a concurrency. It is called under the same conditions as the {@link #concurrencyResolver}. If it throws,
         * the group has the concurrency that it would have without the function.
         *
         * @param function the function from a key to the adaptive limit, where null means a fixed concurrency; null,
         *     the default, means that for all groups
         * @return this builder
         */
        public Builder adaptiveLimit(@Nullable Function<String, @Nullable AdaptiveLimit> function) {
            adaptiveLimit = function;
            return this;
        }

        /**
         * Sets the function that determines the circuit breaker of a group. It is called under the same rules as the
         * concurrency resolver. Tasks that the breaker refuses are rejected, even if the rejection policy is {@link
         * RejectionPolicy#CALLER_RUNS}.
         *
         * @param function the function from a key to a breaker, or to null for none; null, the default, means none
         * @return this builder
         */
        public Builder breaker(@Nullable Function<String, @Nullable CircuitBreaker> function) {
            breaker = function;
            return this;
        }

        /**
         * Sets how many tasks of single groups may start per time. A task starts when the concurrency, the cap, the
         * rate of its group and the global rate all allow it.
         *
         * @param rates the rates by key; null, the default, means none
         * @return this builder
         */
        public Builder perGroupRate(@Nullable Map<String, Rate> rates) {
            perGroupRate = copy(rates);
            return this;
        }

        /**
         * Sets the function that determines the rates of groups for which none is set. It is called under the same
         * rules as the concurrency resolver.
         *
         * @param resolver the function from a key to the rate, where null means no rate; null, the default, means that
         *     the default holds
         * @return this builder
         */
        public Builder rateResolver(@Nullable Function<String, @Nullable Rate> resolver) {
            rateResolver = resolver;
            return this;
        }

        /**
         * Sets the rate of groups for which neither a rate nor a resolver is set.
         *
         * @param rate the rate; null, the default, means none
         * @return this builder
         */
        public Builder defaultRatePerGroup(@Nullable Rate rate) {
            defaultRatePerGroup = rate;
            return this;
        }

        /**
         * Sets how many tasks of all groups together may start per time.
         *
         * @param rate the rate; null, the default, means none
         * @return this builder
         */
        public Builder globalRate(@Nullable Rate rate) {
            globalRate = rate;
            return this;
        }

        /**
         * Sets the source of permits, for limits that hold over several JVMs. A task starts when it has as many permits
         * as it costs, and all other limits allow it. Until then it waits, so a group whose queue threshold is 0, and
         * {@code tryCall} without a wait, use only permits that are there already. A task that is rejected under
         * CALLER_RUNS runs without permits.
         *
         * @param source the source; null, the default, means that tasks need no permits
         * @return this builder
         */
        public Builder permits(@Nullable PermitSource source) {
            permits = source;
            return this;
        }

        /**
         * Sets what happens to running tasks whose permits the source revokes.
         *
         * @param policy the policy; the default is INTERRUPT
         * @return this builder
         */
        public Builder lostPermits(LostPermitPolicy policy) {
            lostPermits = Objects.requireNonNull(policy, "lostPermits");
            return this;
        }

        /**
         * Sets how rejected tasks are treated. The default is ABORT.
         *
         * @param policy the rejection policy; if it is null, {@link #build()} throws
         * @return this builder
         */
        public Builder rejectionPolicy(@Nullable RejectionPolicy policy) {
            rejectionPolicy = policy;
            return this;
        }

        /**
         * Sets the handler of rejected tasks.
         *
         * @param handler the handler, which replaces the rejection policy; null, the default, means that the policy
         *     holds
         * @return this builder
         */
        public Builder rejectionHandler(@Nullable RejectionHandler handler) {
            rejectionHandler = handler;
            return this;
        }

        /**
         * Sets the listener that is notified of every task.
         *
         * @param listener the listener, or null for none
         * @return this builder
         */
        public Builder taskLifecycleListener(@Nullable TaskLifecycleListener listener) {
            taskLifecycleListener = listener;
            return this;
        }

        /**
         * Adds a listener that is notified of every task and of times, with the interface that all APIs share.
         *
         * @param listener the listener to add, which is notified after those added before
         * @return this builder
         */
        public Builder addListener(TaskListener listener) {
            Objects.requireNonNull(listener, "listener");
            taskListener = taskListener == null ? listener : taskListener.and(listener);
            return this;
        }

        /**
         * Sets how long a group without tasks is kept. While it is kept, its limits are not looked up again, and the
         * slot-time that it has used still counts when it competes for the cap. The default is 60 seconds.
         *
         * @param ttl the time to live, not negative; zero means that an idle group is removed at once
         * @return this builder
         */
        public Builder idleGroupTtl(Duration ttl) {
            idleGroupTtl = ttl;
            return this;
        }

        /**
         * Sets how many idle groups are kept. The default is 65 536.
         *
         * @param count the largest number, at least 0
         * @return this builder
         */
        public Builder maxIdleGroups(int count) {
            maxIdleGroups = count;
            return this;
        }

        /**
         * Sets the schedulers of groups. The function is called under the same rules as the concurrency resolver.
         *
         * @param function the function from a key to the scheduler; null, the default, means fresh virtual threads
         * @return this builder
         */
        public Builder scheduler(@Nullable Function<String, Scheduler> function) {
            scheduler = function;
            return this;
        }

        /**
         * Sets whether a thread that has run a task runs the next waiting task of the same group, which is faster.
         * Interrupts and task contexts are not visible to the next task; thread-locals are. A listener must not wait
         * for other tasks of the group then, because its thread may be the one that runs them next.
         *
         * @param reuse whether to reuse threads; the default is false
         * @return this builder
         */
        public Builder reuseThreads(boolean reuse) {
            reuseThreads = reuse;
            return this;
        }

        /**
         * Sets how long {@link GroupExecutor#close()} waits for accepted tasks before it interrupts the running ones
         * and rejects the waiting ones. The default is 30 seconds.
         *
         * @param timeout the timeout, not negative
         * @return this builder
         */
        public Builder closeTimeout(Duration timeout) {
            closeTimeout = timeout;
            return this;
        }

        /**
         * Adds a propagator of a further context, such as that of logging or tracing, from submitters to tasks.
         *
         * @param propagator the propagator to add, which is installed around each task after those added before, and
         *     restored before them
         * @return this builder
         */
        public Builder addPropagator(ContextPropagator propagator) {
            propagation = propagation.with(propagator);
            return this;
        }

        /**
         * Adds a scoped value that is bound in tasks as it was bound in submitters. If the submitter has not bound it,
         * it is not bound in the task either.
         *
         * @param value the scoped value to add
         * @return this builder
         */
        public Builder addScopedValue(ScopedValue<?> value) {
            propagation = propagation.with(value);
            return this;
        }

        /**
         * Sets the sink of exceptions that must not affect a task, such as those thrown by listeners and resolvers.
         *
         * @param sink the sink; the default writes to the system logger, a limited number of messages a minute
         * @return this builder
         */
        public Builder exceptionSink(ExceptionSink sink) {
            propagation = propagation.with(sink);
            return this;
        }

        /**
         * Sets the time source.
         *
         * @param time the time source; the default is {@link TimeSource#system()}
         * @return this builder
         */
        public Builder timeSource(TimeSource time) {
            timeSource = Objects.requireNonNull(time, "timeSource");
            return this;
        }

        /**
         * Checks the rules and builds a policy.
         *
         * @return a new policy
         * @throws IllegalArgumentException if any value is out of its range; the message names all such values
         */
        public GroupPolicy build() {
            List<String> errors = errors();
            if (!errors.isEmpty()) {
                throw new IllegalArgumentException(String.join("; ", errors));
            }
            try {
                return new GroupPolicy((Builder) clone());
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }

        /** Returns a sentence for each value that is out of its range. */
        private List<String> errors() {
            List<String> errors = new ArrayList<>();
            atLeast(1, "defaultMaxConcurrencyPerGroup", defaultMaxConcurrencyPerGroup, errors);
            atLeast(1, "globalMaxInFlight", globalMaxInFlight, errors);
            atLeast(1, "defaultMaxInFlightPerGroup", defaultMaxInFlightPerGroup, errors);
            atLeast(0, "globalQueueThreshold", globalQueueThreshold, errors);
            atLeast(0, "defaultQueueThresholdPerGroup", defaultQueueThresholdPerGroup, errors);
            atLeast(0, "maxIdleGroups", maxIdleGroups, errors);
            eachAtLeast(1, "perGroupMaxConcurrency", perGroupMaxConcurrency, errors);
            eachAtLeast(1, "perGroupMaxInFlight", perGroupMaxInFlight, errors);
            eachAtLeast(0, "perGroupQueueThreshold", perGroupQueueThreshold, errors);
            eachSet("perGroupRate", perGroupRate, errors);
            notNegative("queueTimeout", queueTimeout == null ? Duration.ZERO : queueTimeout, errors);
            notNegative("idleGroupTtl", idleGroupTtl, errors);
            notNegative("closeTimeout", closeTimeout, errors);
            if (rejectionPolicy == null) {
                String policies = String.join(
                        ", ",
                        Arrays.stream(RejectionPolicy.values()).map(Enum::name).toList());
                errors.add("rejectionPolicy must be one of " + policies + ", was null");
            }
            return errors;
        }

        private static void eachAtLeast(int min, String map, Map<String, Integer> values, List<String> errors) {
            noNullKey(map, values, errors);
            for (Map.Entry<String, Integer> each : values.entrySet()) {
                atLeast(min, nameOf(map, each.getKey()), each.getValue(), errors);
            }
        }

        private static void eachSet(String map, Map<String, ?> values, List<String> errors) {
            noNullKey(map, values, errors);
            for (Map.Entry<String, ?> each : values.entrySet()) {
                if (each.getValue() == null) {
                    errors.add(nameOf(map, each.getKey()) + " must not be null");
                }
            }
        }

        private static void noNullKey(String map, Map<String, ?> values, List<String> errors) {
            for (String key : values.keySet()) {
                if (key == null) {
                    errors.add("the keys of " + map + " must not be null");
                }
            }
        }

        private static String nameOf(String map, @Nullable String key) {
            return map + " of group \"" + key + "\"";
        }

        private static void atLeast(int min, String name, @Nullable Integer value, List<String> errors) {
            if (value == null || value < min) {
                errors.add(name + " must be at least " + min + ", was " + value);
            }
        }

        private static void notNegative(String name, @Nullable Duration value, List<String> errors) {
            if (value == null || value.isNegative()) {
                errors.add(name + " must not be negative, was " + value);
            }
        }

        private static <V> Map<String, V> copy(@Nullable Map<String, V> map) {
            return map == null ? Map.of() : Collections.unmodifiableMap(new HashMap<>(map));
        }
    }
}
