package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The nodes of one run that have succeeded and have a compensation. */
final class Compensations {

    /** A link of a list, the last to complete first. */
    private record Completed(int node, @Nullable Completed earlier) {}

    private final AtomicReference<@Nullable Completed> completed = new AtomicReference<>();

    /** Records a node that has succeeded, before any node that depends on it begins. */
    void add(int node) {
        Completed before;
        do {
            before = completed.get();
        } while (!completed.compareAndSet(before, new Completed(node, before)));
    }

    /** Undoes all nodes, the last to complete first, and returns the exceptions. */
    List<Throwable> undo(RunEnvironment run) {
        List<Throwable> failures = new ArrayList<>();
        for (Completed each = completed.get(); each != null; each = each.earlier()) {
            Thread.interrupted(); // another compensation may have left an interrupt
            try {
                undo(run, each.node());
            } catch (Throwable failure) {
                failures.add(failure);
            }
        }
        return failures;
    }

    /**
     * Undoes a node. It is recorded as undone first: after a crash in between the action runs again, which it must
     * tolerate, whereas a node that is recorded as finished has certainly not been undone. So a node whose compensation
     * fails is recorded as finished again, and a node that cannot be recorded as undone is not undone.
     */
    private static void undo(RunEnvironment run, int node) throws Exception {
        FlowJournal journal = run.options.journal;
        String id = run.graph.ids[node];
        if (journal != null) {
            journal.undone(id);
        }
        try {
            run.callInStarterContext(() -> call(run, node));
        } catch (Throwable failure) {
            if (journal != null) {
                recordAgain(journal, id, run.states.value(node), failure);
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
    private static RunEnvironment call(RunEnvironment run, int node) throws Exception {
        Objects.requireNonNull(run.graph.optionsOf(node).compensation()).accept(run.states.value(node));
        return run;
    }
}
