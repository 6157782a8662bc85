package dev.raddle.scope;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.Recorder;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The view of a subtask for the listener and for flight recordings, together with its propagated context. Created only
 * if there is a listener, a recording or a propagator.
 */
final class ObservedSubtask implements TaskIdentity {

    private final SubtaskScope scope;
    private final String name;
    private final CapturedContext context;
    private final long forkedAt;

    // Written by the thread that runs the subtask, read by the one that ends it: the same, or another if it never ran.
    private boolean started;
    private long startedAt;
    private Recorder.@Nullable Begun begun;

    /** Captures the context of the calling thread, which is the forker. */
    private ObservedSubtask(SubtaskScope scope, String name) {
        this.scope = scope;
        this.name = name;
        this.context = scope.options.propagation.capture(null);
        this.forkedAt = scope.options.time().nanoTime();
    }

    /** Creates the view of a subtask and notifies the listener of the submission. */
    static ObservedSubtask of(SubtaskScope scope, String name) {
        ObservedSubtask observed = new ObservedSubtask(scope, name);
        if (scope.events != null) {
            scope.events.onSubmitted(observed);
        }
        return observed;
    }

    /** Notifies the listener of the start and calls the task in its context. */
    <T extends @Nullable Object> T call(Callable<? extends T> task) throws Exception {
        long now = scope.options.time().nanoTime();
        startedAt = now;
        started = true;
        begun = Recorder.begin();
        if (scope.events != null) {
            scope.events.onStarted(this, Math.max(0, now - forkedAt));
        }
        return context.call(task);
    }

    void succeeded(@Nullable Object value) {
        settled(new Outcome.Success<>(value));
    }

    void failed(Throwable failure) {
        settled(new Outcome.Failure<>(failure));
    }

    /** Reports that the scope was shut down before the subtask had ended. */
    void cancelled() {
        settled(new Outcome.Cancelled<>(
                new CancelledException("scope \"" + owner() + "\" was shut down before this subtask had ended")));
    }

    private void settled(Outcome<?> outcome) {
        long now = scope.options.time().nanoTime();
        long ran = started ? Math.max(0, now - startedAt) : 0;
        if (begun != null || Recorder.isOn()) {
            long waited = Math.max(0, (started ? startedAt : now) - forkedAt);
            Recorder.settled(Recorder.OwnerKind.SCOPE, owner(), name, outcome.status(), waited, ran, begun);
        }
        if (scope.events != null) {
            scope.events.onSettled(this, outcome, ran);
        }
    }

    @Override
    public String owner() {
        return scope.name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return "subtask " + name + " of scope \"" + owner() + "\"";
    }
}
