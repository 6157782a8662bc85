package dev.raddle.scope;

import dev.raddle.scope.StructuredTaskScope.Joiner;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The implementations of the joiners that {@link Joiner} provides. */
final class Joiners {

    private Joiners() {}

    /** All subtasks in the order of their forks. */
    private static final class Forks<T extends @Nullable Object> {
        private final List<Subtask<T>> inOrder = new ArrayList<>(); // used only by the owner

        @SuppressWarnings("unchecked") // a subtask only returns values of type T
        void add(Subtask<? extends T> subtask) {
            inOrder.add((Subtask<T>) subtask);
        }
    }

    /** Waits for all subtasks and shuts down at the first failure. */
    static final class AwaitSuccessful<T extends @Nullable Object> implements Joiner<T, Void> {
        private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            return subtask.state() == Subtask.State.FAILED && firstFailure.compareAndSet(null, subtask.exception());
        }

        @Override
        @SuppressWarnings("NullAway") // Void is null
        public Void result() throws Throwable {
            Throwable failure = firstFailure.get();
            if (failure != null) {
                throw failure;
            }
            return null;
        }
    }

    /** Waits for all subtasks, shuts down at the first failure, and returns all subtasks. */
    static final class AllSuccessful<T extends @Nullable Object> implements Joiner<T, Stream<Subtask<T>>> {
        private final AwaitSuccessful<T> success = new AwaitSuccessful<>();
        private final Forks<T> forks = new Forks<>();

        @Override
        public boolean onFork(Subtask<? extends T> subtask) {
            boolean cancel = Joiner.super.onFork(subtask);
            forks.add(subtask);
            return cancel;
        }

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            return success.onComplete(subtask);
        }

        @Override
        public Stream<Subtask<T>> result() throws Throwable {
            success.result();
            return forks.inOrder.stream();
        }
    }

    /** Shuts down at the first success. */
    static final class AnySuccessful<T extends @Nullable Object> implements Joiner<T, T> {
        private final AtomicReference<@Nullable Subtask<? extends T>> success = new AtomicReference<>();
        private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            if (subtask.state() == Subtask.State.SUCCESS) {
                return success.compareAndSet(null, subtask);
            }
            firstFailure.compareAndSet(null, subtask.exception());
            return false;
        }

        @Override
        public T result() throws Throwable {
            Subtask<? extends T> first = success.get();
            if (first != null) {
                return first.get();
            }
            Throwable failure = firstFailure.get();
            throw failure == null ? new NoSuchElementException("no subtask has completed") : failure;
        }
    }

    /** Waits for all subtasks. */
    static final class AwaitAll<T extends @Nullable Object> implements Joiner<T, Void> {
        @Override
        @SuppressWarnings("NullAway") // Void is null
        public Void result() {
            return null;
        }
    }

    /** Waits for all subtasks, shuts down when a predicate returns true, and returns all subtasks. */
    static final class AllUntil<T extends @Nullable Object> implements Joiner<T, Stream<Subtask<T>>> {
        private final Predicate<? super Subtask<? extends T>> isDone;
        private final Forks<T> forks = new Forks<>();

        AllUntil(Predicate<? super Subtask<? extends T>> isDone) {
            this.isDone = isDone;
        }

        @Override
        public boolean onFork(Subtask<? extends T> subtask) {
            boolean cancel = Joiner.super.onFork(subtask);
            forks.add(subtask);
            return cancel;
        }

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            return isDone.test(subtask);
        }

        @Override
        public Stream<Subtask<T>> result() {
            return forks.inOrder.stream();
        }
    }
}
