package dev.raddle.structured;

import dev.raddle.structured.StructuredTaskScope.Subtask;
import dev.raddle.task.NamedTask;
import dev.raddle.time.UserCode;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A subtask: the user's handle, and the task that the engine runs. Its state is that of the engine's subtask. */
final class Fork<T extends @Nullable Object> implements Subtask<T>, Callable<T>, NamedTask {

    private final ScopeEngine<?> engine;
    private final Callable<? extends T> task;

    /** Null until it is started. Written by the owner and, before a joiner receives it, by the subtask's thread. */
    private volatile dev.raddle.scope.StructuredTaskScope.@Nullable Subtask<? extends T> forked;

    Fork(ScopeEngine<?> engine, Callable<? extends T> task) {
        this.engine = engine;
        this.task = task;
    }

    void setForked(dev.raddle.scope.StructuredTaskScope.Subtask<? extends T> forked) {
        this.forked = forked;
    }

    @Override
    public T call() throws Exception {
        return task.call();
    }

    @Override
    public String name() {
        return UserCode.nameOf(task instanceof NamedTask named ? named::name : null, task);
    }

    @Override
    public State state() {
        var known = forked;
        return known == null
                ? State.UNAVAILABLE
                : switch (known.state()) {
                    case UNAVAILABLE -> State.UNAVAILABLE;
                    case SUCCESS -> State.SUCCESS;
                    case FAILED -> State.FAILED;
                };
    }

    @Override
    public T get() {
        return readable().get();
    }

    @Override
    public Throwable exception() {
        return readable().exception();
    }

    private dev.raddle.scope.StructuredTaskScope.Subtask<? extends T> readable() {
        engine.ensureReadable();
        var known = forked;
        if (known == null) {
            throw new IllegalStateException("this subtask was not started; ask state() first");
        }
        return known;
    }

    @Override
    public String toString() {
        var known = forked; // read once: its thread may set it meanwhile
        String text = known == null ? "[Unavailable]" : known.toString();
        return Objects.toIdentityString(this) + text.substring(text.indexOf('['));
    }
}
