package dev.raddle.cli.run;

import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Explains why a task of a flow was decided without running. As thread-safe as the results. */
final class NotStartedReasons {
    private final Function<String, @Nullable TaskResult> results;
    private final Map<String, List<PlannedTask>> consumers;

    /**
     * Creates the explanations for the tasks of one plan.
     *
     * @param results the function from an id to its result, or null if the task has not ended
     */
    NotStartedReasons(Plan plan, Function<String, @Nullable TaskResult> results) {
        this.results = results;
        this.consumers = plan.consumers();
    }

    /**
     * Returns the upstream task that made a task impossible, with its state and a description; null if there is none.
     */
    @Nullable
    BlockingUpstream blockingUpstream(PlannedTask task) {
        List<Need> needs = task.flow().needs();
        for (Need need : needs) {
            BlockingUpstream blockingUpstream = blockingUpstream(need);
            if (blockingUpstream != null) {
                return blockingUpstream;
            }
        }
        boolean chooses = !needs.isEmpty() && needs.stream().allMatch(need -> need.kind() == Need.Kind.OPTIONAL);
        return chooses ? blockingUpstream(anyOf(needs)) : null;
    }

    /** Combines needs that are all optional into one choice: the task waits for the first that succeeds. */
    private static Need anyOf(List<Need> needs) {
        List<String> ids = needs.stream().flatMap(need -> need.ids().stream()).toList();
        return new Need(Need.Kind.ANY, 1, ids, List.of());
    }

    /** The upstream task because of which a task cannot run, and the state in which the task ends. */
    record BlockingUpstream(String id, TaskState state, String text) {}

    private @Nullable BlockingUpstream blockingUpstream(Need need) {
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
        return new BlockingUpstream(
                first.id(),
                first.state(),
                need.kind() == Need.Kind.MUST
                        ? "it needs " + which
                        : "it needs " + need.label() + " of " + String.join(", ", need.ids())
                                + ", which is impossible after " + which);
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

    static String quoted(String id) {
        return "\"" + id + "\"";
    }

    /** Returns why a task is no longer needed. */
    String unneeded(PlannedTask task) {
        for (PlannedTask consumer : consumers.getOrDefault(task.id(), List.of())) {
            for (Need need : consumer.flow().needs()) {
                List<String> winners = need.ids().stream()
                        .filter(id -> {
                            TaskResult result = results.apply(id);
                            return result != null && result.succeeded();
                        })
                        .map(NotStartedReasons::quoted)
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
