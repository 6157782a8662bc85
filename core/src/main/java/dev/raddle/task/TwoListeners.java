package dev.raddle.task;

import java.util.Objects;
import java.util.function.Consumer;

/** Two listeners in one. What both throw goes on together. */
record TwoListeners(TaskListener first, TaskListener second) implements TaskListener {

    TwoListeners {
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(second, "next");
    }

    @Override
    public void onSubmitted(TaskIdentity task) {
        tell(listener -> listener.onSubmitted(task));
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        tell(listener -> listener.onStarted(task, waitNanos));
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        tell(listener -> listener.onSettled(task, outcome, runNanos));
    }

    private void tell(Consumer<TaskListener> event) {
        try {
            event.accept(first);
        } catch (Throwable failure) {
            tellSecondAfter(failure, event);
            throw failure;
        }
        event.accept(second);
    }

    private void tellSecondAfter(Throwable failure, Consumer<TaskListener> event) {
        try {
            event.accept(second);
        } catch (Throwable another) {
            if (another != failure) {
                failure.addSuppressed(another);
            }
        }
    }
}
