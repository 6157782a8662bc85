package dev.raddle.cli.file;

import dev.raddle.cli.file.template.DeferredCommand;
import dev.raddle.cli.file.template.DeferredCondition;
import dev.raddle.cli.file.template.Reference;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The relations of a task to other tasks.
 *
 * @param needs the clauses that must all hold before it starts
 * @param when the condition without which it is skipped, or null
 * @param deferred its command if that contains values of other tasks; otherwise null
 * @param fallback the replacement for a failed command, or null
 * @param undo the command that reverts it if the run fails, or null
 * @param essential whether it runs even if no other task needs it any more
 */
public record TaskFlow(
        List<Need> needs,
        @Nullable DeferredCondition when,
        @Nullable DeferredCommand deferred,
        @Nullable Fallback fallback,
        @Nullable DeferredCommand undo,
        boolean essential) {
    /** A task without relations to others. */
    public static final TaskFlow NONE = new TaskFlow(List.of(), null, null, null, null, false);

    /** A replacement for a failed command. */
    public sealed interface Fallback {
        /** The output of another command. */
        record Run(DeferredCommand command) implements Fallback {}

        /** A fixed text. */
        record Value(String text) implements Fallback {}
    }

    /** Returns whether the task has no relations to others, and runs as it would without flows. */
    public boolean isNone() {
        return equals(NONE);
    }

    /** Returns the ids of all upstream tasks, in order. */
    public Set<String> upstreams() {
        Set<String> ids = new LinkedHashSet<>();
        needs.forEach(need -> ids.addAll(need.ids()));
        return ids;
    }

    /**
     * Returns the tasks that {@value Reference#ONLY_UPSTREAM} stands for in a reference: the only upstream task, or, if
     * the only need is a single {@code any}, its tasks, of which the first to succeed counts. Empty if it stands for
     * none.
     */
    public List<String> onlyUpstream() {
        List<String> ids = List.copyOf(upstreams());
        boolean choice = needs.size() == 1 && needs.getFirst().kind() == Need.Kind.ANY;
        return ids.size() == 1 || choice ? ids : List.of();
    }

    /** Returns every value of other tasks that the task reads, including its fallback and its compensation. */
    public Set<Reference> references() {
        Set<Reference> references = new LinkedHashSet<>();
        if (when != null) {
            references.addAll(when.references());
        }
        if (deferred != null) {
            references.addAll(deferred.references());
        }
        if (fallback instanceof Fallback.Run run) {
            references.addAll(run.command().references());
        }
        if (undo != null) {
            references.addAll(undo.references());
        }
        return references;
    }
}
