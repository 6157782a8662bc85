package dev.raddle.scope;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notifies a {@link ThreadHook} of the tasks of one scope. A hook is notified of the end of a task as any listener. Of
 * the start it is notified later than a listener: inside the context of the task.
 */
final class HookListener implements TaskListener {

    /** The end of a task, of which the hook is notified. */
    private record End(Outcome<?> outcome, Duration ran) {}

    /**
     * A task that has not been settled. Its field {@code state} changes by compare-and-set only:
     *
     * <pre>
     * null ──► STARTING ──► STARTED ──► End      the settling thread notifies the hook of the end
     *   │          └──────────────────► End      the runner does, when the hook was notified of the start
     *   └─────────────────────────────► End      the settling thread does; the hook is not notified of a start
     * </pre>
     *
     * So a hook is never notified of an end before the start, although another thread may end the task meanwhile.
     */
    private final class HookedTask {

        private static final Object STARTING = new Object();
        private static final Object STARTED = new Object();

        private final TaskInfo info;
        private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

        HookedTask(TaskInfo info) {
            this.info = info;
        }

        /** Notifies the hook of the start. Returns false if the task has ended. */
        boolean start() {
            if (!state.compareAndSet(null, STARTING)) {
                return false;
            }
            notifyHook("onStart", info, hook -> hook.onStart(info));
            if (state.compareAndSet(STARTING, STARTED)) {
                return true;
            }
            if (state.get() instanceof End end) {
                notifyEnd(end.outcome(), end.ran());
            }
            return false;
        }

        void end(End end) {
            Object before = state.getAndSet(end);
            if (before != STARTING) {
                notifyEnd(end.outcome(), before == null ? Duration.ZERO : end.ran());
            }
        }

        private void notifyEnd(Outcome<?> outcome, Duration ran) {
            switch (outcome) {
                case Outcome.Success<?> success -> notifyHook("onSuccess", info, hook -> hook.onSuccess(info, ran));
                case Outcome.Failure<?> failure ->
                    notifyHook("onFailure", info, hook -> hook.onFailure(info, failure.error(), ran));
                default -> notifyHook("onCancel", info, hook -> hook.onCancel(info, ran));
            }
        }
    }

    private final ThreadHook hook;
    private final long scopeId;
    private final String scope; // its name
    private final ExceptionSink sink;
    private final String scheduler; // its description, the same for all tasks
    private final Map<Long, HookedTask> unsettled = new ConcurrentHashMap<>(); // by the id of the task

    HookListener(ThreadHook hook, long scopeId, String scope, ScopeSettings options) {
        this.hook = hook;
        this.scopeId = scopeId;
        this.scope = scope;
        this.sink = options.sink();
        this.scheduler = UserCode.textOf(options.scheduler);
    }

    /** Notifies the hook of a start, in the calling runner, inside the task's context. Throws if the task has ended. */
    void notifyStart(Task<?> task) {
        HookedTask hooked = unsettled.get(task.id());
        if (hooked == null || !hooked.start()) {
            throw new CancelledException("task \"" + task.name() + "\" was ended before its callable was called");
        }
    }

    @Override
    public void onSubmitted(TaskIdentity task) {
        long id = ((Task<?>) task).id();
        unsettled.put(id, new HookedTask(new TaskInfo(scopeId, id, task.name(), Instant.now(), scheduler)));
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        HookedTask hooked = unsettled.remove(((Task<?>) task).id());
        if (hooked != null) {
            hooked.end(new End(outcome, Duration.ofNanos(runNanos)));
        }
    }

    private void notifyHook(String event, TaskInfo task, Consumer<ThreadHook> notification) {
        sink.guard(
                () -> event + " of the hook, for task \"" + task.name() + "\" in scope \"" + scope + "\"",
                () -> notification.accept(hook));
    }
}
