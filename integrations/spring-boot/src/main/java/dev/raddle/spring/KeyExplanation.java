package dev.raddle.spring;

import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupStats;
import java.util.Objects;

/** Says in a sentence for what the tasks of a group wait. */
final class KeyExplanation {

    private static final String NEXT_START = ", next start in ";

    private KeyExplanation() {}

    /** Explains why the next task of a group waits. */
    static String of(GroupExecutor executor, GroupStats group) {
        String slots = group.activeCount() + " of " + group.maxConcurrency() + " slots are taken";
        if (group.queuedCount() == 0) {
            return "no task waits; " + slots + (group.paused() ? "; the group is paused" : "");
        }
        String waiting = group.queuedCount() == 1 ? "1 task waits for " : group.queuedCount() + " tasks wait for ";
        return executor.explainNext(group.groupKey())
                .map(why -> waiting + reason(why, executor.stats(), slots))
                .orElse("no task waits any more");
    }

    /** Explains why the first waiting task with a name waits. */
    static String of(GroupExecutor executor, String key, String task) {
        return executor.explain(key, task)
                .map(why -> "the first task of this name " + why)
                .orElse("no task of this name waits here: it runs, has ended, or has another key");
    }

    private static String reason(Explanation why, GroupExecutorStats executor, String slots) {
        String text = why.toString();
        return switch (why.waitingFor()) {
            case GROUP_LIMIT ->
                "a slot of the group: " + slots + (why.limitChange() == null ? "" : ", " + why.limitChange());
            case GLOBAL_CAP ->
                "a slot of all groups: " + executor.globalInFlightUsed() + " of " + executor.globalInFlightMax()
                        + " are taken, " + why.rank() + " groups are before this one";
            case GROUP_RATE -> "the rate of " + why.rate() + NEXT_START + millis(why);
            case GLOBAL_RATE -> "the rate of all groups, " + why.rate() + NEXT_START + millis(why);
            case HOLD -> "the end of a hold of the group, in " + millis(why);
            case PAUSED -> "the resumption of the group";
            case FLEET_LIMIT, NOTHING -> text.substring("waits for ".length());
        };
    }

    private static String millis(Explanation why) {
        return Objects.requireNonNull(why.nextStart()).toMillis() + " ms";
    }
}
