package dev.raddle.task;

import dev.raddle.time.UserCode;
import java.util.Objects;
import java.util.function.Consumer;

/** Notifies two listeners. If both throw, the second exception is suppressed in the first. */
record TwoListeners(TaskListener first, TaskListener second) implements TaskListener {

    TwoListeners {
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(second, "next");
    }

    @Override
    public void onSubmitted(TaskIdentity task) {
        notifyBoth(listener -> listener.onSubmitted(task));
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        notifyBoth(listener -> listener.onStarted(task, waitNanos));
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        notifyBoth(listener -> listener.onSettled(task, outcome, runNanos));
    }

    @Override
    public void onChanged(OwnerChange change) {
        notifyBoth(listener -> listener.onChanged(change));
    }

    private void notifyBoth(Consumer<TaskListener> event) {
        try {
            event.accept(first);
        } catch (Throwable failure) {
            try {
                event.accept(second);
            } catch (Throwable another) {
                UserCode.addSuppressed(failure, another);
            }
            throw failure;
        }
        event.accept(second);
    }
}
