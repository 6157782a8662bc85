package dev.raddle.cli.file;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many may run and wait, and in what kind of thread.
 *
 * @param usual the rule for groups that have none of their own
 * @param groups rules by group
 * @param total how many may run in all groups together; {@link #UNLIMITED} is allowed
 * @param totalQueue how many may wait in all groups together
 */
public record Limits(GroupRule usual, Map<String, GroupRule> groups, int total, int totalQueue) {
    /** No limit. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    /**
     * How many run at once in all if nobody says otherwise. A process costs memory, and a thousand groups of limit one are
     * a thousand processes.
     */
    private static final int USUAL_TOTAL = 256;

    /** The total for {@code auto}. */
    public static int automaticTotal() {
        return 4 * Runtime.getRuntime().availableProcessors();
    }

    /** The total if nobody names one: 256, or the largest limit of a group if that is more. */
    public static int usualTotal(GroupRule usual, Map<String, GroupRule> groups) {
        int total = USUAL_TOTAL;
        for (GroupRule rule : groups.values()) {
            total = Math.max(total, number(rule.limit(), 0));
        }
        return Math.max(total, number(usual.limit(), 0));
    }

    public int limit(String group) {
        return number(rule(group).limit(), 1);
    }

    public int queue(String group) {
        return number(rule(group).queue(), UNLIMITED);
    }

    public int weight(String group) {
        return number(rule(group).weight(), 1);
    }

    public int maxInFlight(String group) {
        return number(rule(group).maxInFlight(), UNLIMITED);
    }

    public ThreadKind threads(String group) {
        ThreadKind kind = rule(group).threads();
        return kind == null ? ThreadKind.VIRTUAL : kind;
    }

    public int usualQueue() {
        return number(usual.queue(), UNLIMITED);
    }

    public int usualMaxInFlight() {
        return number(usual.maxInFlight(), UNLIMITED);
    }

    /** How many permits a task of this group can get at most. */
    public int most(String group) {
        return Math.min(total, Math.min(limit(group), maxInFlight(group)));
    }

    private GroupRule rule(String group) {
        return groups.getOrDefault(group, GroupRule.SILENT).or(usual);
    }

    private static int number(@Nullable Integer number, int otherwise) {
        return number == null ? otherwise : number;
    }
}
