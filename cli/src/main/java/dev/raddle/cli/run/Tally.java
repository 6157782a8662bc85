package dev.raddle.cli.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** Counts the results of tasks. For one thread at a time. */
public final class Tally implements RunListener {
    private static final int SLOWEST = 10;

    private final Map<String, TaskCounter> groups = new LinkedHashMap<>();
    private final TaskCounter totals = new TaskCounter();
    private final PriorityQueue<TaskResult> slowest =
            new PriorityQueue<>(Comparator.comparingLong(TaskResult::runMillis));

    @Override
    public void on(RunEvent event) {
        switch (event) {
            case RunEvent.AttemptStarted started -> {
                group(started.group()).started(started.id());
                totals.started(started.id());
            }
            case RunEvent.TaskEnded ended -> add(ended.result());
            default -> {}
        }
    }

    /** Counts a task that has ended, in this or an earlier run. */
    public void add(TaskResult result) {
        group(result.group()).ended(result);
        totals.ended(result);
        slowest.add(result);
        if (slowest.size() > SLOWEST) {
            slowest.remove();
        }
    }

    private TaskCounter group(String key) {
        return groups.computeIfAbsent(key, ignored -> new TaskCounter());
    }

    public Counts totals() {
        return totals.counts();
    }

    public Summary summary(Duration wall) {
        Map<String, Counts> counts = new LinkedHashMap<>();
        groups.forEach((key, count) -> counts.put(key, count.counts()));
        List<TaskResult> longest = new ArrayList<>(slowest);
        longest.sort(Comparator.comparingLong(TaskResult::runMillis).reversed());
        return new Summary(totals.counts(), counts, List.copyOf(longest), wall, null);
    }
}
