package dev.raddle.cli.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of a run.
 *
 * @param groups the counts by group, in the order of their first tasks
 * @param slowest the tasks that ran longest, longest first
 * @param wall the time from the start to the end of this run
 * @param account the outcomes of all accepted tasks if the run was drained, otherwise null
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
