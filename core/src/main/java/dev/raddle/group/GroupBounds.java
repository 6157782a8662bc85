package dev.raddle.group;

import dev.raddle.kernel.Bounds;
import dev.raddle.task.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** What is known about a group's limits: nothing, that somebody is looking them up, or the limits. */
sealed interface GroupBounds extends Bounds {

    /** Nobody has asked yet, or the answer was forgotten. */
    GroupBounds UNKNOWN = new Pending();

    /** Whether they were changed by hand, so that they must not be forgotten. */
    boolean isAdjusted();

    /** The limits are being looked up by one thread, outside every lock. Each lookup is an object of its own. */
    final class Pending implements GroupBounds {

        private final List<UnaryOperator<Known>> changes = new ArrayList<>(0); // guarded by the group
        private boolean begun; // guarded by the group

        /** Gives the lookup to the caller to carry out; false if somebody has it. */
        boolean begin() {
            boolean first = !begun;
            begun = true;
            return first;
        }

        void change(UnaryOperator<Known> change) {
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

        @Override
        public int concurrency() {
            return 0;
        }

        @Override
        public int maxInFlight() {
            return 0;
        }

        @Override
        public int maxWaiting() {
            return Integer.MAX_VALUE;
        }

        @Override
        public int weight() {
            return 0;
        }
    }

    /** The limits. Groups with equal ones share the object where they can. */
    record Known(int concurrency, int maxInFlight, int maxWaiting, int weight, Scheduler scheduler, boolean isAdjusted)
            implements GroupBounds {

        static Known resolve(GroupPolicy policy, String key) {
            return new Known(
                    policy.resolveConcurrency(key),
                    policy.resolveMaxInFlight(key),
                    policy.resolveQueueThreshold(key),
                    policy.resolveWeight(key),
                    policy.resolveScheduler(key),
                    false);
        }

        Known withConcurrency(int slots) {
            return new Known(slots, maxInFlight, maxWaiting, weight, scheduler, true);
        }

        Known withWeight(int share) {
            return new Known(concurrency, maxInFlight, maxWaiting, share, scheduler, true);
        }
    }
}
