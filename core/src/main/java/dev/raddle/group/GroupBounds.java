package dev.raddle.group;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.RateLimit;
import dev.raddle.task.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The state of a group's limits: unknown, being looked up, or known. */
sealed interface GroupBounds extends Bounds {

    /** Returns whether the limits were changed at run time, so that the group must be retained. */
    boolean isAdjusted();

    /** Limits without slots: the tasks wait. */
    sealed interface Slotless extends GroupBounds {

        @Override
        default int concurrency() {
            return 0;
        }

        @Override
        default int maxInFlight() {
            return 0;
        }

        @Override
        default int maxWaiting() {
            return Integer.MAX_VALUE;
        }

        @Override
        default int weight() {
            return 0;
        }
    }

    /** The limits were not looked up yet, or were discarded. */
    enum Unknown implements Slotless {
        UNKNOWN;

        @Override
        public boolean isAdjusted() {
            return false;
        }
    }

    /** One thread looks the limits up, outside every lock. Each lookup is an object of its own. */
    final class Pending implements Slotless {

        private final List<UnaryOperator<Known>> changes = new ArrayList<>(0); // guarded by the group
        private boolean begun; // guarded by the group

        /** Assigns the lookup to the calling thread; returns false if it has been assigned already. */
        boolean tryBegin() {
            boolean first = !begun;
            begun = true;
            return first;
        }

        void addChange(UnaryOperator<Known> change) {
            changes.add(change);
        }

        Known apply(Known found) {
            Known known = found;
            for (UnaryOperator<Known> change : changes) {
                known = change.apply(known);
            }
            return known;
        }

        @Override
        public boolean isAdjusted() {
            return !changes.isEmpty();
        }
    }

    /** The known limits. Groups with equal limits mostly share one object. */
    record Known(
            int concurrency,
            int maxInFlight,
            int maxWaiting,
            int weight,
            @Nullable RateLimit rate,
            Scheduler scheduler,
            @Nullable CircuitBreaker breaker,
            @Nullable Adaptation adaptation, // null unless the concurrency is adaptive
            boolean isLimitSet, // by hand; false again when it adapts
            boolean isOtherwiseAdjusted)
            implements GroupBounds {

        @Override
        public boolean isAdjusted() {
            return isLimitSet || isOtherwiseAdjusted;
        }

        @Override
        public int slots() {
            return Math.min(concurrency, maxInFlight);
        }

        static Known resolve(GroupPolicy policy, String key, RateLimits limits) {
            int maxInFlight = policy.resolveMaxInFlight(key);
            AdaptiveLimit limit = policy.resolveAdaptiveLimit(key);
            Adaptation adaptation = limit == null ? null : new Adaptation(limit, limit.initial, maxInFlight);
            return new Known(
                    adaptation == null ? policy.resolveConcurrency(key) : adaptation.steady(),
                    maxInFlight,
                    policy.resolveQueueThreshold(key),
                    policy.resolveWeight(key),
                    limits.of(policy.resolveRate(key)),
                    policy.resolveScheduler(key),
                    policy.resolveBreaker(key),
                    adaptation,
                    false,
                    false);
        }

        /** Returns these limits with another concurrency, which an adaptation has decided. */
        Known withAdapted(int limit) {
            return with(limit, weight, rate, adaptation, isLimitSet, isOtherwiseAdjusted);
        }

        /** Returns these limits with an adaptation that begins at the concurrency, or these if they have one. */
        Known withAdaptation(AdaptiveLimit limit) {
            if (adaptation != null) {
                return this;
            }
            Adaptation resumed = new Adaptation(limit, concurrency, maxInFlight);
            return with(resumed.steady(), weight, rate, resumed, false, isOtherwiseAdjusted);
        }

        Known withConcurrency(int limit) {
            return with(limit, weight, rate, null, true, isOtherwiseAdjusted);
        }

        Known withWeight(int newWeight) {
            return with(concurrency, newWeight, rate, adaptation, isLimitSet, true);
        }

        Known withRate(@Nullable RateLimit newRate) {
            return with(concurrency, weight, newRate, adaptation, isLimitSet, true);
        }

        private Known with(
                int limit,
                int newWeight,
                @Nullable RateLimit newRate,
                @Nullable Adaptation newAdaptation,
                boolean limitSet,
                boolean otherwiseAdjusted) {
            return new Known(
                    limit,
                    maxInFlight,
                    maxWaiting,
                    newWeight,
                    newRate,
                    scheduler,
                    breaker,
                    newAdaptation,
                    limitSet,
                    otherwiseAdjusted);
        }
    }
}
