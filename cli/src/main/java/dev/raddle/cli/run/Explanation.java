package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Durations;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Explains in one sentence why a task of a run is in its state, from the content of the run directory. */
public final class Explanation {
    private final Map<String, PlannedTask> tasks;
    private final Past past;
    private final NotStartedReasons reasons;

    /** Creates the explanations of one run. */
    public Explanation(Plan plan, Past past) {
        this.tasks = plan.byId();
        this.past = past;
        this.reasons = new NotStartedReasons(plan, past::result);
    }

    /** Returns the sentence, without a line break. */
    public String of(String id) {
        PlannedTask task = Objects.requireNonNull(tasks.get(id), id);
        TaskResult result = past.result(id);
        if (result == null) {
            return NotStartedReasons.quoted(id)
                    + (past.isOpen(id)
                            ? " began, and its end was not recorded: it runs, or raddle was killed; --resume runs it"
                                    + " again."
                            : " has not begun" + waitsFor(task) + ".");
        }
        String since = past.isUndone(id)
                ? "; it was undone, because the run failed"
                : result.succeeded() && past.done(id) == null ? "; it is to run again" : "";
        return NotStartedReasons.quoted(id) + " " + sentence(task, result) + since + ".";
    }

    private String sentence(PlannedTask task, TaskResult result) {
        String verb = NotStartedReasons.verb(result.state());
        String why = Objects.requireNonNullElse(result.error(), "");
        if (result.succeeded()) {
            String by = TaskResult.VIA_FALLBACK.equals(result.via()) ? " by its fallback, after " + why : "";
            return verb + by + times(result);
        }
        if (result.state() == TaskState.SKIPPED || result.attempts() == 0) {
            return verb + ": " + why + root(task);
        }
        return verb + times(result) + ": " + why
                + (result.output() == null ? "" : "; its output is in " + result.output());
    }

    private static String times(TaskResult result) {
        return " after running for " + time(result.runMillis())
                + (result.waitMillis() > 0 ? " and waiting for " + time(result.waitMillis()) : "")
                + (result.attempts() > 1 ? ", in " + result.attempts() + " attempts" : "");
    }

    private static String time(long millis) {
        return Durations.text(Duration.ofMillis(millis));
    }

    /** Returns the failed task at the start of a chain of tasks that were not started because of it. */
    private String root(PlannedTask task) {
        Set<String> seen = new HashSet<>();
        TaskResult found = null;
        PlannedTask at = task;
        while (at != null && seen.add(at.id())) {
            NotStartedReasons.BlockingUpstream blockingUpstream = reasons.blockingUpstream(at);
            TaskResult result = blockingUpstream == null ? null : past.result(blockingUpstream.id());
            if (result == null) {
                break;
            }
            found = result;
            at = result.attempts() == 0 ? tasks.get(result.id()) : null;
        }
        if (found == null) {
            return "";
        }
        String error = Objects.requireNonNullElse(found.error(), found.state().text());
        return " (" + NotStartedReasons.quoted(found.id()) + ": " + error + ")";
    }

    private String waitsFor(PlannedTask task) {
        for (String upstream : task.flow().upstreams()) {
            @Nullable TaskResult result = past.result(upstream);
            if (result == null) {
                return ": " + NotStartedReasons.quoted(upstream) + ", which it needs, has not ended";
            }
        }
        return "";
    }
}
