package dev.raddle.spring;

import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;

/** Says in a sentence for what the tasks of a group wait. */
final class KeyExplanation {

    private KeyExplanation() {}

    static String of(GroupStats group, GroupExecutorStats executor) {
        String slots = group.activeCount() + " of " + group.maxConcurrency() + " slots are taken";
        if (group.queuedCount() == 0) {
            return "no task waits; " + slots;
        }
        String waiting = group.queuedCount() == 1 ? "1 task waits for " : group.queuedCount() + " tasks wait for ";
        return waiting + reason(group, executor, slots);
    }

    private static String reason(GroupStats group, GroupExecutorStats executor, String slots) {
        GroupStats.Permits permits = group.permits();
        if (group.holdLeft() != null) {
            return "the end of a hold of the group, in " + group.holdLeft().toMillis() + " ms";
        }
        if (group.activeCount() >= group.maxConcurrency()) {
            return "a slot of the group: " + slots + (group.limitChange() == null ? "" : ", " + group.limitChange());
        }
        if (permits != null && permits.wanted() > 0) {
            String limit = permits.fleetLimit() == 0 ? "" : " of " + permits.fleetLimit();
            return "permits of the fleet: this instance has " + permits.leased() + limit + ", and wants "
                    + permits.wanted();
        }
        if (executor.globalInFlightUsed() >= executor.globalInFlightMax()) {
            return "a slot of all groups: " + executor.globalInFlightUsed() + " of " + executor.globalInFlightMax()
                    + " are taken";
        }
        return group.rate() == null
                ? "the resumption of the group, or the rate of all groups"
                : "the rate of " + group.rate() + ", or the resumption of the group";
    }
}
