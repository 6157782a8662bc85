package dev.raddle.structured;

import dev.raddle.kernel.ScopeControl;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The engine of a scope: calls the joiner for each completed subtask, and knows whether results may be read. */
final class ScopeEngine<T extends @Nullable Object> extends StructuredTaskScope<T> implements ScopeControl.Holder {

    /** The engine whose joiner the calling thread notifies of a completion. */
    private static final ScopedValue<ScopeEngine<?>> NOTIFYING = ScopedValue.newInstance();

    private @Nullable ScopeControl control; // set by the constructor of the superclass
    private @Nullable Joiner<T, ?, ?> joiner; // null after closing, because subtasks refer to this engine
    private volatile boolean joined; // written by the owner, like the next
    private volatile boolean uncancelled; // whether it was not cancelled when it was closed after its join

    ScopeEngine(StructuredScopeOptions options, Joiner<T, ?, ?> joiner) {
        super(options);
        this.joiner = joiner;
    }

    @Override
    public void receive(ScopeControl control) {
        this.control = control;
    }

    ScopeControl control() {
        return Objects.requireNonNull(control);
    }

    @Override
    @SuppressWarnings("unchecked") // a subtask only returns values of type T
    protected void handleComplete(StructuredTaskScope.Subtask<? extends T> completed) {
        Fork<T> fork = (Fork<T>) completed.task();
        fork.setForked(completed); // perhaps before the owner does
        if (isEnoughWith(fork, Objects.requireNonNull(joiner))) {
            control().stop();
        }
    }

    private boolean isEnoughWith(Fork<T> fork, Joiner<T, ?, ?> joiner) {
        return joiner instanceof Joiners.Deciding // which reads no results
                ? joiner.onComplete(fork)
                : ScopedValue.where(NOTIFYING, this).call(() -> joiner.onComplete(fork));
    }

    /** Ensures that the calling thread may read results: it notifies the joiner, or the owner has joined. */
    void ensureReadable() {
        if (!joined && (!NOTIFYING.isBound() || NOTIFYING.get() != this)) {
            throw new IllegalStateException("the owner of scope " + this + " has not joined; call join() first");
        }
    }

    boolean isJoined() {
        return joined;
    }

    void setJoined() {
        joined = true;
    }

    boolean isCancelled() {
        return isShutdown() && !uncancelled;
    }

    /** Closes this scope, and clears the joiner, which may refer to all subtasks. */
    @Override
    public void close() {
        uncancelled = joined && !isShutdown();
        try {
            super.close();
        } finally {
            joiner = null;
        }
    }
}
