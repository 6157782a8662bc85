package dev.raddle.cli.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What became of a run.
 *
 * @param groups by group, in the order in which they came up
 * @param slowest the tasks that ran longest, longest first
 * @param wall from the start to the end of this run
 * @param account what became of every accepted task, if the run was drained; otherwise null
 */
public record Summary(
        Counts totals,
        Map<String, Counts> groups,
        List<TaskResult> slowest,
        Duration wall,
        @Nullable Account account) {

    Summary with(Account sum) {
        return new Summary(totals, groups, slowest, wall, sum);
    }
}
