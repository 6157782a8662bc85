package dev.raddle.redis;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link RedisFleet}. Immutable. Instances of a fleet may differ in all of them but the namespace.
 *
 * {@snippet :
 * FleetOptions options = FleetOptions.builder()
 *         .namespace("checkout")
 *         .lease(Duration.ofSeconds(5))
 *         .outageMode(OutageMode.local(1))
 *         .instanceName(System.getenv("HOSTNAME"))
 *         .build();
 * }
 */
public final class FleetOptions {

    /** The shortest lease. */
    public static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

    /** The longest lease. */
    public static final Duration LONGEST_LEASE = Duration.ofHours(1);

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:@-]{1,64}");

    private final String namespace;
    private final Duration lease;
    private final Duration slice;
    private final OutageMode outageMode;
    private final @Nullable ToIntFunction<String> limitResolver;
    private final @Nullable Function<String, @Nullable Rate> rateResolver;
    private final String instanceName;
    private final FleetListener listener;
    private final ExceptionSink sink;
    private final TimeSource timeSource;

    private FleetOptions(Builder builder) {
        namespace = builder.namespace;
        lease = builder.lease;
        slice = builder.slice;
        outageMode = builder.outageMode;
        limitResolver = builder.limitResolver;
        rateResolver = builder.rateResolver;
        instanceName = builder.instanceName;
        listener = builder.listener;
        sink = builder.sink;
        timeSource = builder.timeSource;
    }

    /**
     * Returns a builder with the defaults.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the defaults.
     *
     * @return the options of a new builder
     */
    public static FleetOptions defaults() {
        return builder().build();
    }

    /**
     * Returns the name that all instances of the fleet share.
     *
     * @return the namespace
     */
    public String namespace() {
        return namespace;
    }

    /**
     * Returns the time after which the permits of an instance that is not heard from are free.
     *
     * @return the lease
     */
    public Duration lease() {
        return lease;
    }

    /**
     * Returns the time for which a permit may serve local tasks.
     *
     * @return the slice, or zero if every task needs a permit of its own
     */
    public Duration slice() {
        return slice;
    }

    /**
     * Returns what is granted during an outage.
     *
     * @return the outage mode
     */
    public OutageMode outageMode() {
        return outageMode;
    }

    /**
     * Returns the name of the instance, for status and explanations.
     *
     * @return the name
     */
    public String instanceName() {
        return instanceName;
    }

    /**
     * Returns the listener.
     *
     * @return the listener, or {@link FleetListener#NONE}
     */
    public FleetListener listener() {
        return listener;
    }

    /**
     * Returns where exceptions of the listener and of executors go.
     *
     * @return the sink
     */
    public ExceptionSink sink() {
        return sink;
    }

    /**
     * Returns the clock of deadlines and alarms.
     *
     * @return the time source
     */
    public TimeSource timeSource() {
        return timeSource;
    }

    /** Returns the limit for a key without an entry, as it is written in the namespace; null if the default applies. */
    @Nullable
    String resolveLimit(String groupKey) {
        int limit = limitResolver == null ? 0 : Math.min(limitResolver.applyAsInt(groupKey), RedisFleet.HIGHEST_LIMIT);
        return limit <= 0 ? null : Integer.toString(limit);
    }

    /** Returns the rate for a key without an entry, likewise. */
    @Nullable
    String resolveRate(String groupKey) {
        Rate rate = rateResolver == null ? null : rateResolver.apply(groupKey);
        return rate == null ? null : Rates.write(rate);
    }

    @Override
    public String toString() {
        return "fleet options: namespace \"" + namespace + "\", lease " + lease + ", slice " + slice + ", outage mode "
                + outageMode + ", instance \"" + instanceName + "\"";
    }

    /** Builds {@link FleetOptions}. Not safe for several threads. */
    public static final class Builder {

        private String namespace = "raddle";
        private Duration lease = Duration.ofSeconds(3);
        private Duration slice = Duration.ofMillis(20);
        private OutageMode outageMode = OutageMode.closed();
        private @Nullable ToIntFunction<String> limitResolver;
        private @Nullable Function<String, @Nullable Rate> rateResolver;
        private String instanceName = "pid-" + ProcessHandle.current().pid();
        private FleetListener listener = FleetListener.NONE;
        private ExceptionSink sink = ExceptionSink.logging();
        private TimeSource timeSource = TimeSource.system();

        private Builder() {}

        /**
         * Sets the name that all instances of the fleet share. Every key and channel in Redis begins with it in braces,
         * as in {@code {raddle}:used}, so that all are in one hash slot. The default is {@code raddle}.
         *
         * @param name the namespace: 1 to 64 letters, digits and {@code . _ : @ -}
         * @return this builder
         * @throws IllegalArgumentException if the name has other characters or another length
         */
        public Builder namespace(String name) {
            namespace = named("namespace", name);
            return this;
        }

        /**
         * Sets the lease. An instance that has not been heard from for so long has lost its permits: it revokes them
         * after 90 % of the time; the server frees them after all of it. Shorter leases free the permits of a
         * killed instance earlier, and are lost earlier in pauses of the JVM or of the network. The default is 3 s.
         *
         * @param duration the lease, from 100 ms to one hour
         * @return this builder
         * @throws IllegalArgumentException if it is outside that range
         */
        public Builder lease(Duration duration) {
            if (duration.compareTo(SHORTEST_LEASE) < 0 || duration.compareTo(LONGEST_LEASE) > 0) {
                throw new IllegalArgumentException(
                        "lease must be between " + SHORTEST_LEASE + " and " + LONGEST_LEASE + ", was " + duration);
            }
            lease = Duration.ofMillis(duration.toMillis());
            return this;
        }

        /**
         * Sets the time for which a permit may serve one local task after the other before it is offered to other
         * instances. With slices most tasks start without a call to the server; another instance may wait one slice
         * longer. The default is 20 ms. Groups with a rate have no slices.
         *
         * @param duration the slice, or zero if every task needs a permit of its own
         * @return this builder
         * @throws IllegalArgumentException if it is negative or longer than a minute
         */
        public Builder slice(Duration duration) {
            if (duration.isNegative() || duration.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("slice must be between zero and one minute, was " + duration);
            }
            slice = duration;
            return this;
        }

        /**
         * Sets what is granted during an outage. The default is {@link OutageMode#closed()}.
         *
         * @param mode the mode
         * @return this builder
         */
        public Builder outageMode(OutageMode mode) {
            outageMode = Objects.requireNonNull(mode, "mode");
            return this;
        }

        /**
         * Sets what decides the limit of a key that has no entry in the namespace. It is asked when the instance first
         * uses the key; its result becomes the key's entry unless another instance has set one, and remains until that
         * is changed. It is called by the thread of the fleet, and must not wait. If it throws, the default applies,
         * and the exception goes to the sink. Not set by default.
         *
         * @param resolver returns the limit of a key, or 0 so that the default limit applies
         * @return this builder
         */
        public Builder limitResolver(ToIntFunction<String> resolver) {
            limitResolver = Objects.requireNonNull(resolver, "resolver");
            return this;
        }

        /**
         * Sets what decides the rate of a key that has no entry in the namespace, as {@link #limitResolver} does for
         * the limit. Not set by default.
         *
         * @param resolver returns the rate of a key, or null so that the default rate applies
         * @return this builder
         */
        public Builder rateResolver(Function<String, @Nullable Rate> resolver) {
            rateResolver = Objects.requireNonNull(resolver, "resolver");
            return this;
        }

        /**
         * Sets the name of the instance, for status and explanations. It need not be unique. The default names the
         * process id.
         *
         * @param name the name: 1 to 64 letters, digits and {@code . _ : @ -}
         * @return this builder
         * @throws IllegalArgumentException if the name has other characters or another length
         */
        public Builder instanceName(String name) {
            instanceName = named("instance name", name);
            return this;
        }

        /**
         * Sets the listener.
         *
         * @param hook the listener
         * @return this builder
         */
        public Builder listener(FleetListener hook) {
            listener = Objects.requireNonNull(hook, "listener");
            return this;
        }

        /**
         * Sets where exceptions of the listener and of executors go. The default writes them to the log.
         *
         * @param target the sink
         * @return this builder
         */
        public Builder sink(ExceptionSink target) {
            sink = Objects.requireNonNull(target, "sink");
            return this;
        }

        /**
         * Sets the clock of deadlines and alarms. The leases at the server and the timeouts of the connection are in
         * real time, so this is of use only for tests.
         *
         * @param clock the time source
         * @return this builder
         */
        public Builder timeSource(TimeSource clock) {
            timeSource = Objects.requireNonNull(clock, "timeSource");
            return this;
        }

        /**
         * Returns the options.
         *
         * @return immutable options
         */
        public FleetOptions build() {
            return new FleetOptions(this);
        }

        private static String named(String what, String name) {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        what + " must be 1 to 64 letters, digits and . _ : @ -, was \"" + name + "\"");
            }
            return name;
        }
    }
}
