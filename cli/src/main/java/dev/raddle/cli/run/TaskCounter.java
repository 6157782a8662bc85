package dev.raddle.cli.run;

import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Counts the tasks of one group, or of all. For one thread at a time. */
final class TaskCounter {
    private final Map<TaskState, Long> ended = new EnumMap<>(TaskState.class);
    private final Set<String> running = new HashSet<>();
    private int peakRunning;
    private long attempts;
    private long waitMillis;
    private long runMillis;

    void started(String id) {
        running.add(id);
        peakRunning = Math.max(peakRunning, running.size());
    }

    void ended(TaskResult result) {
        running.remove(result.id());
        ended.merge(result.state(), 1L, Long::sum);
        attempts += result.attempts();
        waitMillis += result.waitMillis();
        runMillis += result.runMillis();
    }

    Counts counts() {
        return new Counts(
                ended.values().stream().mapToLong(Long::longValue).sum(),
                in(TaskState.SUCCEEDED),
                in(TaskState.FAILED),
                in(TaskState.TIMED_OUT),
                in(TaskState.REJECTED),
                in(TaskState.CANCELLED),
                in(TaskState.SKIPPED),
                attempts,
                waitMillis,
                runMillis,
                peakRunning);
    }

    private long in(TaskState state) {
        return ended.getOrDefault(state, 0L);
    }
}
