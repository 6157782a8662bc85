package dev.raddle.structured;

import dev.raddle.structured.StructuredTaskScope.CancelledByTimeoutException;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The implementations of the joiners that {@link Joiner} provides. */
final class Joiners {

    private Joiners() {}

    /** A joiner with a decisive state: the first subtask in that state ends the join. It reads no results before. */
    abstract static class Deciding<T extends @Nullable Object, R extends @Nullable Object, X extends Throwable>
            implements Joiner<T, R, X> {
        private final Subtask.State decisive;
        private final Function<Throwable, X> exception;
        private final AtomicReference<@Nullable Subtask<T>> success = new AtomicReference<>();
        private final AtomicReference<@Nullable Subtask<T>> failure = new AtomicReference<>();

        Deciding(Subtask.State decisive, Function<Throwable, X> exception) {
            this.decisive = decisive;
            this.exception = Objects.requireNonNull(exception, "f");
        }

        @Override
        public final boolean onComplete(Subtask<T> subtask) {
            Joiner.super.onComplete(subtask);
            Subtask.State state = subtask.state();
            boolean isFirst = (state == Subtask.State.SUCCESS ? success : failure).compareAndSet(null, subtask);
            return isFirst && state == decisive;
        }

        @Nullable
        Subtask<T> firstSuccess() {
            return success.get();
        }

        final void throwIfFailed() throws X {
            Subtask<T> failed = failure.get();
            if (failed != null) {
                throw caused(failed.exception());
            }
        }

        final X caused(Throwable cause) {
            return Objects.requireNonNull(exception.apply(cause), "the function returned no exception");
        }

        @Override
        public final R timeout() throws X {
            throw caused(new CancelledByTimeoutException());
        }
    }

    /** Ends at the first failure. */
    static final class AwaitSuccessful<T extends @Nullable Object, X extends Throwable> extends Deciding<T, Void, X> {
        AwaitSuccessful(Function<Throwable, X> exception) {
            super(Subtask.State.FAILED, exception);
        }

        @Override
        @SuppressWarnings("NullAway") // Void is null
        public Void result() throws X {
            throwIfFailed();
            return null;
        }
    }

    /** Ends at the first failure, and lists the results. */
    static final class AllSuccessful<T extends @Nullable Object, X extends Throwable> extends Deciding<T, List<T>, X> {
        private final List<Subtask<T>> forked = new ArrayList<>(); // used only by the owner

        AllSuccessful(Function<Throwable, X> exception) {
            super(Subtask.State.FAILED, exception);
        }

        @Override
        public boolean onFork(Subtask<T> subtask) {
            boolean enough = super.onFork(subtask);
            forked.add(subtask);
            return enough;
        }

        @Override
        public List<T> result() throws X {
            throwIfFailed();
            return forked.stream().map(Subtask::get).toList();
        }
    }

    /** Ends at the first success. */
    static final class AnySuccessful<T extends @Nullable Object, X extends Throwable> extends Deciding<T, T, X> {
        AnySuccessful(Function<Throwable, X> exception) {
            super(Subtask.State.SUCCESS, exception);
        }

        @Override
        public T result() throws X {
            Subtask<T> success = firstSuccess();
            if (success != null) {
                return success.get();
            }
            throwIfFailed();
            throw caused(new NoSuchElementException("no subtask has completed"));
        }
    }

    /** Ends when a predicate returns true, and lists the subtasks. */
    static final class AllUntil<T extends @Nullable Object> implements Joiner<T, List<Subtask<T>>, RuntimeException> {
        private final List<Subtask<T>> forked = new ArrayList<>(); // used only by the owner
        private final Predicate<? super Subtask<T>> isDone;

        AllUntil(Predicate<? super Subtask<T>> isDone) {
            this.isDone = Objects.requireNonNull(isDone, "isDone");
        }

        @Override
        public boolean onFork(Subtask<T> subtask) {
            boolean enough = Joiner.super.onFork(subtask);
            forked.add(subtask);
            return enough;
        }

        @Override
        public boolean onComplete(Subtask<T> subtask) {
            Joiner.super.onComplete(subtask);
            return isDone.test(subtask);
        }

        @Override
        public List<Subtask<T>> result() {
            return List.copyOf(forked);
        }

        @Override
        public List<Subtask<T>> timeout() {
            return result();
        }
    }
}
