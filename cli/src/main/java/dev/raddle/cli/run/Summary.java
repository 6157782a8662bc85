package dev.raddle.cli.run;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What became of a run.
 *
 * @param groups by group, in the order in which they came up
 * @param slowest the tasks that ran longest, longest first
 * @param wall from the start to the end of this run
 */
public record Summary(Counts totals, Map<String, Counts> groups, List<TaskResult> slowest, Duration wall) {}
