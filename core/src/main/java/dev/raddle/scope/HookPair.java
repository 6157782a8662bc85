package dev.raddle.scope;

import java.time.Duration;
import java.util.function.Consumer;

/** Two hooks, of which the second hears whatever the first throws. */
record HookPair(ThreadHook first, ThreadHook second) implements ThreadHook {

    @Override
    public void onStart(TaskInfo task) {
        tell(hook -> hook.onStart(task));
    }

    @Override
    public void onSuccess(TaskInfo task, Duration ran) {
        tell(hook -> hook.onSuccess(task, ran));
    }

    @Override
    public void onFailure(TaskInfo task, Throwable error, Duration ran) {
        tell(hook -> hook.onFailure(task, error, ran));
    }

    @Override
    public void onCancel(TaskInfo task, Duration ran) {
        tell(hook -> hook.onCancel(task, ran));
    }

    private void tell(Consumer<ThreadHook> event) {
        try {
            event.accept(first);
        } catch (Throwable failure) {
            try {
                event.accept(second);
            } catch (Throwable another) {
                if (another != failure) {
                    failure.addSuppressed(another);
                }
            }
            throw failure;
        }
        event.accept(second);
    }
}
