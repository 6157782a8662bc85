package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a builder collects and a policy consists of. A policy has a copy of its own, whose values were checked. */
final class GroupSettings implements Cloneable {

    @Nullable
    String name;

    Map<String, Integer> perGroupMaxConcurrency = Map.of();

    @Nullable
    ToIntFunction<String> concurrencyResolver;

    int defaultMaxConcurrencyPerGroup = 1;
    int globalMaxInFlight = FairCap.UNLIMITED;
    int globalQueueThreshold = FairCap.UNLIMITED;
    int defaultMaxInFlightPerGroup = Integer.MAX_VALUE;
    Map<String, Integer> perGroupMaxInFlight = Map.of();
    int defaultQueueThresholdPerGroup = Integer.MAX_VALUE;
    Map<String, Integer> perGroupQueueThreshold = Map.of();

    @Nullable
    Duration queueTimeout;

    @Nullable
    ToIntFunction<String> weightResolver;

    @Nullable
    Function<String, @Nullable AdaptiveLimit> adaptiveLimit;

    Map<String, Rate> perGroupRate = Map.of();

    @Nullable
    Function<String, @Nullable Rate> rateResolver;

    @Nullable
    Rate defaultRatePerGroup;

    @Nullable
    Rate globalRate;

    @Nullable
    PermitSource permits;

    LostPermitPolicy lostPermits = LostPermitPolicy.INTERRUPT;

    @Nullable
    RejectionPolicy rejectionPolicy = RejectionPolicy.ABORT;

    @Nullable
    RejectionHandler rejectionHandler;

    @Nullable
    TaskLifecycleListener taskLifecycleListener;

    @Nullable
    TaskListener taskListener;

    Duration idleGroupTtl = Duration.ofSeconds(60);
    int maxIdleGroups = 65_536;

    @Nullable
    Function<String, Scheduler> scheduler;

    boolean reuseThreads;
    Duration closeTimeout = Duration.ofSeconds(30);
    List<ContextPropagator> propagators = new ArrayList<>();
    List<ScopedValue<?>> scopedValues = new ArrayList<>();

    @Nullable
    ExceptionSink exceptionSink;

    TimeSource timeSource = TimeSource.system();

    GroupSettings copy() {
        try {
            GroupSettings copy = (GroupSettings) clone();
            copy.propagators = List.copyOf(propagators);
            copy.scopedValues = List.copyOf(scopedValues);
            return copy;
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns a sentence for each value that is out of its range. */
    List<String> errors() {
        List<String> errors = new ArrayList<>();
        atLeast(1, "defaultMaxConcurrencyPerGroup", defaultMaxConcurrencyPerGroup, errors);
        atLeast(1, "globalMaxInFlight", globalMaxInFlight, errors);
        atLeast(1, "defaultMaxInFlightPerGroup", defaultMaxInFlightPerGroup, errors);
        atLeast(0, "globalQueueThreshold", globalQueueThreshold, errors);
        atLeast(0, "defaultQueueThresholdPerGroup", defaultQueueThresholdPerGroup, errors);
        atLeast(0, "maxIdleGroups", maxIdleGroups, errors);
        noNullKey("perGroupMaxConcurrency", perGroupMaxConcurrency, errors);
        noNullKey("perGroupMaxInFlight", perGroupMaxInFlight, errors);
        noNullKey("perGroupQueueThreshold", perGroupQueueThreshold, errors);
        noNullKey("perGroupRate", perGroupRate, errors);
        perGroupMaxConcurrency.forEach((key, n) -> atLeast(1, nameOf("perGroupMaxConcurrency", key), n, errors));
        perGroupMaxInFlight.forEach((key, n) -> atLeast(1, nameOf("perGroupMaxInFlight", key), n, errors));
        perGroupQueueThreshold.forEach((key, n) -> atLeast(0, nameOf("perGroupQueueThreshold", key), n, errors));
        perGroupRate.forEach((key, rate) -> {
            if (rate == null) {
                errors.add(nameOf("perGroupRate", key) + " must not be null");
            }
        });
        notNegative("queueTimeout", queueTimeout == null ? Duration.ZERO : queueTimeout, errors);
        notNegative("idleGroupTtl", idleGroupTtl, errors);
        notNegative("closeTimeout", closeTimeout, errors);
        if (rejectionPolicy == null) {
            String policies =
                    Arrays.stream(RejectionPolicy.values()).map(Enum::name).collect(Collectors.joining(", "));
            errors.add("rejectionPolicy must be one of " + policies + ", was null");
        }
        return errors;
    }

    private static void noNullKey(String map, Map<String, ?> values, List<String> errors) {
        if (values.keySet().stream().anyMatch(Objects::isNull)) {
            errors.add("the keys of " + map + " must not be null");
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
}
