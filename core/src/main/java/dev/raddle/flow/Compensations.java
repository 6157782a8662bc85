package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The nodes of one run that have completed and can be undone. */
final class Compensations {

    /** In a list, the last to complete first. */
    private record Completed(int node, @Nullable Completed earlier) {}

    private final AtomicReference<@Nullable Completed> completed = new AtomicReference<>();

    /** Notes a node that has succeeded, before anybody who depends on it begins. */
    void add(int node) {
        Completed before;
        do {
            before = completed.get();
        } while (!completed.compareAndSet(before, new Completed(node, before)));
    }

    /** Undoes all, the last to complete first, and returns what was thrown. */
    List<Throwable> undo(Engine run) {
        List<Throwable> failures = new ArrayList<>();
        for (Completed each = completed.get(); each != null; each = each.earlier()) {
            try {
                undo(run, each.node());
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
        return failures;
    }

    /**
     * Undoes a node. It is not finished from before that: a crash in between has the action run again, which it bears, whereas
     * a node that is recorded has not been undone. So what cannot be undone is recorded again, and what cannot be recorded as
     * undone is not undone.
     */
    private static void undo(Engine run, int node) throws Exception {
        FlowJournal journal = run.options.journal;
        String id = run.graph.ids[node];
        if (journal != null) {
            journal.undone(id);
        }
        try {
            run.carry(() -> call(run, node));
        } catch (Throwable failure) {
            if (journal != null) {
                recordAgain(journal, id, run.board.value(node), failure);
            }
            throw failure;
        }
    }

    private static void recordAgain(FlowJournal journal, String id, @Nullable Object value, Throwable failure) {
        try {
            journal.finished(id, value);
        } catch (Throwable again) {
            if (again != failure) {
                failure.addSuppressed(again);
            }
        }
    }

    @SuppressWarnings("NullAway") // null is a value
    private static Engine call(Engine run, int node) throws Exception {
        Objects.requireNonNull(run.graph.optionsOf(node).compensation()).accept(run.board.value(node));
        return run;
    }
}
