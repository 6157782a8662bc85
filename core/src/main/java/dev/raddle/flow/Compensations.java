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
    @SuppressWarnings("NullAway") // null is a value
    List<Throwable> undo(Board board, @Nullable FlowJournal journal) {
        List<Throwable> failures = new ArrayList<>();
        for (Completed each = completed.get(); each != null; each = each.earlier()) {
            int node = each.node();
            try {
                Objects.requireNonNull(board.graph.optionsOf(node).compensation())
                        .accept(board.value(node));
                if (journal != null) {
                    journal.undone(board.graph.ids[node]);
                }
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
        return failures;
    }
}
