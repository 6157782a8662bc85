package dev.raddle.cli.run;

import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.PlannedTask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Says why a task of a flow was decided without running. Safe for many threads, as far as the results are. */
final class NotRun {
    private final Function<String, @Nullable TaskResult> results;
    private final Map<String, List<PlannedTask>> consumers = new HashMap<>();

    /**
     * For the tasks of one plan.
     *
     * @param results how a task went; null if it has not ended
     */
    NotRun(List<PlannedTask> tasks, Function<String, @Nullable TaskResult> results) {
        this.results = results;
        for (PlannedTask task : tasks) {
            for (String upstream : task.flow().upstreams()) {
                consumers.computeIfAbsent(upstream, id -> new ArrayList<>()).add(task);
            }
        }
    }

    /** The upstream task that made a task impossible, in words, with its state; null if there is none. */
    @Nullable
    Culprit culprit(PlannedTask task) {
        List<Need> needs = task.flow().needs();
        for (Need need : needs) {
            Culprit culprit = culprit(need);
            if (culprit != null) {
                return culprit;
            }
        }
        boolean chooses = !needs.isEmpty() && needs.stream().allMatch(need -> need.kind() == Need.Kind.OPTIONAL);
        return chooses ? culprit(anyOf(needs)) : null;
    }

    /** Needs that are all optional are one choice: the task waits for the first that succeeds. */
    private static Need anyOf(List<Need> needs) {
        List<String> ids = needs.stream().flatMap(need -> need.ids().stream()).toList();
        return new Need(Need.Kind.ANY, 1, ids, List.of());
    }

    /** Why a task cannot run, and with which state it ends for that. */
    record Culprit(String id, TaskState state, String text) {}

    private @Nullable Culprit culprit(Need need) {
        int least = need.kind() == Need.Kind.MUST ? need.ids().size() : need.least();
        if (need.kind() == Need.Kind.OPTIONAL || need.kind() == Need.Kind.AFTER) {
            return null;
        }
        List<TaskResult> lost = need.ids().stream()
                .map(results)
                .filter(result -> result != null && !result.succeeded())
                .toList();
        if (need.ids().size() - lost.size() >= least) {
            return null;
        }
        TaskResult first = lost.stream()
                .filter(result -> result.state() != TaskState.SKIPPED)
                .findFirst()
                .orElse(lost.getFirst());
        String which = quoted(first.id()) + ", which " + verb(first.state());
        return new Culprit(
                first.id(),
                first.state(),
                need.kind() == Need.Kind.MUST
                        ? "it needs " + which
                        : "it needs " + need.label() + " of " + String.join(", ", need.ids())
                                + ", and that cannot be any" + " more after " + which);
    }

    static String verb(TaskState state) {
        return switch (state) {
            case SUCCEEDED -> "succeeded";
            case FAILED -> "failed";
            case TIMED_OUT -> "timed out";
            case REJECTED -> "was rejected";
            case CANCELLED -> "was cancelled";
            case SKIPPED -> "was skipped";
        };
    }

    private static String quoted(String id) {
        return "\"" + id + "\"";
    }

    /** Why nobody needs a task any more. */
    String unneeded(PlannedTask task) {
        for (PlannedTask consumer : consumers.getOrDefault(task.id(), List.of())) {
            for (Need need : consumer.flow().needs()) {
                List<String> winners = need.ids().stream()
                        .filter(id -> {
                            TaskResult result = results.apply(id);
                            return result != null && result.succeeded();
                        })
                        .map(NotRun::quoted)
                        .toList();
                if (need.ids().contains(task.id()) && !winners.isEmpty()) {
                    return "not needed, " + quoted(consumer.id()) + " has what it needs from "
                            + String.join(", ", winners.subList(0, Math.min(need.least(), winners.size())));
                }
            }
        }
        return "not needed any more: every task that needs it has been decided";
    }
}
