package dev.raddle.cli.file;

import dev.raddle.task.Rate;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The limits on running and waiting tasks.
 *
 * @param defaultRule the rule for groups without their own
 * @param groups the rules by group
 * @param total the maximum number of tasks that run in all groups together; may be {@link #UNLIMITED}
 * @param totalQueue the maximum number of tasks that wait in all groups together
 * @param totalRate how many tasks of all groups together may start per time, or null if there is no such limit
 */
public record Limits(
        GroupRule defaultRule,
        Map<String, GroupRule> groups,
        int total,
        int totalQueue,
        @Nullable Rate totalRate) {
    /** No limit. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /**
     * The default number of tasks that run at once in all groups. A process costs memory, and a thousand groups with a
     * limit of one are a thousand processes.
     */
    private static final int DEFAULT_TOTAL = 256;

    /** Returns the default total: 256, or the largest limit of a group if that is more. */
    public static int defaultTotal(GroupRule defaultRule, Map<String, GroupRule> groups) {
        int total = DEFAULT_TOTAL;
        for (GroupRule rule : groups.values()) {
            total = Math.max(total, number(rule.limit(), 0));
        }
        return Math.max(total, limit(defaultRule));
    }

    public int limit(String group) {
        return limit(rule(group));
    }

    private static int limit(GroupRule rule) {
        return number(rule.limit(), Runtime.getRuntime().availableProcessors());
    }

    public int queue(String group) {
        return number(rule(group).queue(), UNLIMITED);
    }

    public int weight(String group) {
        return number(rule(group).weight(), 1);
    }

    /** Returns whether any group has a rate. */
    public boolean hasRates() {
        return defaultRule.rate() != null || groups.values().stream().anyMatch(rule -> rule.rate() != null);
    }

    /** Returns how many tasks of a group may start per time, or null if there is no such limit. */
    public @Nullable Rate rate(String group) {
        return rule(group).rate();
    }

    public int defaultQueue() {
        return number(defaultRule.queue(), UNLIMITED);
    }

    private GroupRule rule(String group) {
        return groups.getOrDefault(group, GroupRule.UNSET).or(defaultRule);
    }

    private static int number(@Nullable Integer number, int otherwise) {
        return number == null ? otherwise : number;
    }
}
