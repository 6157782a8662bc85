package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The record of the earlier runs in a directory: a task has what the journal's last lines about it say. */
public final class Past {
    private final Map<String, Task> tasks = new LinkedHashMap<>();
    private final Set<String> keys = new HashSet<>(); // the prefixes of the tokens of all processes
    private final Set<String> closed = new HashSet<>(); // the tokens of attempts that ended

    /** Creates the record for a new run. */
    public Past() {}

    private static final class Task {
        private @Nullable TaskResult result; // the last
        private @Nullable Started open; // the process that started and did not end
        private boolean isUndone; // after it had succeeded
        private boolean isUnsuccessful; // was to run again, was started or failed, and has not succeeded since
        private @Nullable Stored stored; // with the last result
        private @Nullable String definition; // the checksum, when it last ended
    }

    /**
     * A process whose start is recorded.
     *
     * @param token the token in its environment, or null
     */
    record Started(
            String id,
            long pid,
            Instant processStart,
            @Nullable String token) {}

    /**
     * An output that is stored for other tasks.
     *
     * @param isMasked whether it lacks its secrets
     */
    record Stored(long size, boolean isMasked) {}

    // Recording.

    void onOpened(String key) {
        keys.add(key);
    }

    void onAgain(String id) {
        task(id).isUnsuccessful = true;
    }

    void onStarted(Started process) {
        replaceOpen(task(process.id), process);
    }

    /**
     * Records the end of a task.
     *
     * @param definition the checksum of its definition, or null if none is recorded
     */
    void onEnded(TaskResult result, @Nullable Stored stored, @Nullable String definition) {
        Task task = task(result.id());
        replaceOpen(task, null);
        task.isUndone = false;
        task.result = result;
        task.stored = stored;
        task.definition = definition == null ? task.definition : definition;
        task.isUnsuccessful = switch (result.state()) {
            case SUCCEEDED -> false;
            case FAILED, TIMED_OUT, REJECTED -> true;
            case CANCELLED, SKIPPED -> task.isUnsuccessful;
        };
    }

    void onUndone(String id) {
        task(id).isUndone = true;
    }

    private Task task(String id) {
        return tasks.computeIfAbsent(id, key -> new Task());
    }

    private void replaceOpen(Task task, @Nullable Started process) {
        if (task.open != null && task.open.token != null) {
            closed.add(task.open.token);
        }
        task.open = process;
    }

    /**
     * Counts more tasks as undone: each that the plan defines otherwise; each whose stored output is a result and lost,
     * or is read by a task that may run and is lost or masked; and the direct and indirect downstream tasks of every
     * undone task. Those of them that succeeded are unsuccessful as well.
     */
    void apply(Plan plan, Map<String, OutputFiles> outputs) {
        Map<String, PlannedTask> planned = plan.byId();
        Map<String, List<PlannedTask>> consumers = plan.consumers();
        Definitions.of(plan).forEach((id, definition) -> {
            if (!Objects.requireNonNullElse(known(id).definition, definition).equals(definition)) {
                onUndone(id);
            }
        });
        Predicate<String> lost =
                id -> isLost(id, Objects.requireNonNull(outputs.get(id)).capture());
        plan.results().stream().filter(lost).forEach(this::onUndone);
        Deque<String> running = new ArrayDeque<>(planned.keySet());
        running.removeIf(id -> done(id) != null);
        while (!running.isEmpty()) {
            PlannedTask task = Objects.requireNonNull(planned.get(running.remove()));
            PlanFlow.read(task, planned.keySet()).stream()
                    .filter(lost.or(this::isMasked))
                    .filter(this::undo)
                    .forEach(running::add);
            if (isUndone(task.id())) {
                consumers.getOrDefault(task.id(), List.of()).stream()
                        .map(PlannedTask::id)
                        .filter(this::undo)
                        .forEach(running::add);
            }
        }
        for (Task task : tasks.values()) {
            task.isUnsuccessful |= task.isUndone && task.result != null && task.result.succeeded();
        }
    }

    /** Counts a task as undone, and returns whether it was not before. */
    private boolean undo(String id) {
        boolean wasUndone = isUndone(id);
        onUndone(id);
        return !wasUndone;
    }

    // Reading.

    private Task known(String id) {
        return tasks.getOrDefault(id, new Task());
    }

    /** Returns the last result of a task, or null if it has not ended. */
    @Nullable
    TaskResult result(String id) {
        return known(id).result;
    }

    /** Returns the result of a task whose success counts: it was not undone, and the task was not started since. */
    public @Nullable TaskResult done(String id) {
        Task task = known(id);
        boolean counts = task.result != null && task.result.succeeded();
        return counts && !task.isUndone && !task.isUnsuccessful ? task.result : null;
    }

    /** Returns whether a task was undone after it had succeeded. */
    boolean isUndone(String id) {
        return known(id).isUndone;
    }

    /** Returns the tasks that were to run again, were started or failed, and have not succeeded since. */
    Set<String> unsuccessful() {
        Set<String> ids = new HashSet<>();
        tasks.forEach((id, task) -> {
            if (task.isUnsuccessful) {
                ids.add(id);
            }
        });
        return ids;
    }

    /** Returns whether the output that a task has stored is missing or incomplete. It may have grown. */
    boolean isLost(String id, @Nullable Capture capture) {
        if (done(id) == null || capture == null) {
            return false;
        }
        Stored stored = known(id).stored;
        return !Files.exists(capture.file())
                || (stored != null && capture.file().toFile().length() < stored.size);
    }

    /** Returns whether the output that a task has stored lacks its secrets. */
    boolean isMasked(String id) {
        Stored stored = known(id).stored;
        return done(id) != null && stored != null && stored.isMasked;
    }

    /** Returns the processes that started and did not end. */
    List<Started> open() {
        return tasks.values().stream()
                .map(task -> task.open)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Returns whether a task started a process that did not end. */
    boolean isOpen(String id) {
        return known(id).open != null;
    }

    /** Returns whether no earlier run can have started a process. */
    boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Returns whether a token belongs to a process of these runs whose attempt has not ended. */
    boolean isOpenToken(String token) {
        int end = token.indexOf('.');
        return end > 0 && keys.contains(token.substring(0, end)) && !closed.contains(token);
    }
}
