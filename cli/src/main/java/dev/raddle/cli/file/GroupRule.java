package dev.raddle.cli.file;

import org.jspecify.annotations.Nullable;

/** What a run file says of one group; what it leaves out is null and comes from the defaults. */
public record GroupRule(
        @Nullable Integer limit,
        @Nullable Integer queue,
        @Nullable Integer weight,
        @Nullable Integer maxInFlight,
        @Nullable ThreadKind threads) {
    public static final GroupRule SILENT = new GroupRule(null, null, null, null, null);

    /** This rule, filled up from another where it is silent. */
    GroupRule or(GroupRule other) {
        return new GroupRule(
                limit != null ? limit : other.limit,
                queue != null ? queue : other.queue,
                weight != null ? weight : other.weight,
                maxInFlight != null ? maxInFlight : other.maxInFlight,
                threads != null ? threads : other.threads);
    }
}
