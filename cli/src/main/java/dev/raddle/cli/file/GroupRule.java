package dev.raddle.cli.file;

import dev.raddle.task.Rate;
import org.jspecify.annotations.Nullable;

/** The settings of one group in a run file; a missing setting is null and comes from the defaults. */
public record GroupRule(
        @Nullable Integer limit,
        @Nullable Integer queue,
        @Nullable Integer weight,
        @Nullable Rate rate) {
    public static final GroupRule UNSET = new GroupRule(null, null, null, null);

    /** Returns this rule with missing settings taken from another. */
    GroupRule or(GroupRule other) {
        return new GroupRule(
                limit != null ? limit : other.limit,
                queue != null ? queue : other.queue,
                weight != null ? weight : other.weight,
                rate != null ? rate : other.rate);
    }
}
