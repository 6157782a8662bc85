package dev.raddle.spring;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupStats;

/** Says in a sentence for what the tasks of a group wait. The reason is in the words of the group's explanation. */
final class KeyExplanation {

    private KeyExplanation() {}

    /** Explains why the next task of a group waits. */
    static String of(GroupExecutor executor, GroupStats group) {
        String slots = "; " + group.activeCount() + " of " + group.maxConcurrency() + " slots are taken";
        int queued = group.queuedCount();
        if (queued == 0) {
            return "no task waits" + slots + (group.paused() ? "; the group is paused" : "") + breakerOf(group);
        }
        return executor.explainNext(group.groupKey())
                .map(why -> (queued == 1 ? "1 task waits" : queued + " tasks wait") + "; the next " + why + slots)
                .orElse("no task waits any more");
    }

    private static String breakerOf(GroupStats group) {
        GroupStats.Breaker breaker = group.breaker();
        boolean isClosed = breaker == null || breaker.state() == CircuitBreaker.State.CLOSED;
        return isClosed ? "" : "; the breaker is " + breaker;
    }

    /** Explains why the first waiting task with a name waits. */
    static String of(GroupExecutor executor, String key, String task) {
        return executor.explain(key, task)
                .map(why -> "the first task of this name " + why)
                .orElse("no task of this name waits here: it runs, has ended, or has another key");
    }
}
