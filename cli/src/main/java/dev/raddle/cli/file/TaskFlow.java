package dev.raddle.cli.file;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What ties a task to others.
 *
 * @param needs what must be so before it starts; all of them
 * @param when what must hold, or it is skipped; null if nothing
 * @param late its command, if that has values of other tasks in it; otherwise null
 * @param defaultValue what others read if it has no output of its own, or null
 * @param fallback what makes up for its failure, or null
 * @param undo the command that takes it back if the run fails, or null
 * @param essential whether it runs although nobody needs it any more
 */
public record TaskFlow(
        List<Need> needs,
        @Nullable When when,
        @Nullable Late late,
        @Nullable String defaultValue,
        @Nullable Fallback fallback,
        @Nullable Late undo,
        boolean essential) {
    /** Of a task that stands alone. */
    public static final TaskFlow NONE = new TaskFlow(List.of(), null, null, null, null, null, false);

    /** What makes up for a failure. */
    public sealed interface Fallback {
        /** What another command prints. */
        record Run(Late command) implements Fallback {}

        /** A text. */
        record Value(String text) implements Fallback {}
    }

    /** Whether the task stands alone, and runs as it would without flows. */
    public boolean isNone() {
        return equals(NONE);
    }

    /** The ids of all upstream tasks, in order. */
    public Set<String> upstreams() {
        Set<String> ids = new LinkedHashSet<>();
        needs.forEach(need -> ids.addAll(need.ids()));
        return ids;
    }

    /**
     * What {@value Reference#ONLY_UPSTREAM} means in a reference: the only upstream task, or the first to succeed of these, if
     * one {@code any} is all that is needed. Empty if it means nothing.
     */
    public List<String> onlyUpstream() {
        List<String> ids = List.copyOf(upstreams());
        boolean choice = needs.size() == 1 && needs.getFirst().kind() == Need.Kind.ANY;
        return ids.size() == 1 || choice ? ids : List.of();
    }

    /** Every value of other tasks that the task reads, its fallback and its compensation included. */
    public Set<Reference> references() {
        Set<Reference> references = new LinkedHashSet<>();
        if (when != null) {
            references.addAll(when.references());
        }
        if (late != null) {
            references.addAll(late.references());
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
