package dev.raddle.scope;

import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.function.Consumer;

/** Two hooks. The second is notified even if the first throws. */
record HookPair(ThreadHook first, ThreadHook second) implements ThreadHook {

    @Override
    public void onStart(TaskInfo task) {
        notifyBoth(hook -> hook.onStart(task));
    }

    @Override
    public void onSuccess(TaskInfo task, Duration ran) {
        notifyBoth(hook -> hook.onSuccess(task, ran));
    }

    @Override
    public void onFailure(TaskInfo task, Throwable error, Duration ran) {
        notifyBoth(hook -> hook.onFailure(task, error, ran));
    }

    @Override
    public void onCancel(TaskInfo task, Duration ran) {
        notifyBoth(hook -> hook.onCancel(task, ran));
    }

    private void notifyBoth(Consumer<ThreadHook> event) {
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
