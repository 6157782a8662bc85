package dev.raddle.scope;

import dev.raddle.scope.StructuredTaskScope.Joiner;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The implementations of the joiners that {@link Joiner} provides. */
final class Joiners {

    private Joiners() {}

    /** A joiner that shuts down when enough subtasks have succeeded or too many have failed. */
    abstract static class Deciding<T extends @Nullable Object, R extends @Nullable Object> implements Joiner<T, R> {
        final JoinDecision<Subtask<? extends T>, Throwable> decision;

        Deciding(int needed, int tolerated) {
            decision = new JoinDecision<>(needed, tolerated);
        }

        @Override
        public final boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            return StructuredTaskScope.decides(decision, subtask);
        }
    }

    /** All subtasks in the order of their forks. */
    private static final class Forks<T extends @Nullable Object> {
        private final List<Subtask<T>> inOrder = new ArrayList<>(); // used only by the owner

        @SuppressWarnings("unchecked") // a subtask only returns values of type T
        void add(Subtask<? extends T> subtask) {
            inOrder.add((Subtask<T>) subtask);
        }
    }

    /** Waits for all subtasks and shuts down at the first failure. */
    static final class AwaitSuccessful<T extends @Nullable Object> extends Deciding<T, Void> {
        AwaitSuccessful() {
            super(JoinDecision.ALL, 0);
        }

        @Override
        @SuppressWarnings("NullAway") // Void is null
        public Void result() throws Throwable {
            decision.throwIfFailed(Function.identity());
            return null;
        }
    }

    /** Waits for all subtasks, shuts down at the first failure, and returns all subtasks. */
    static final class AllSuccessful<T extends @Nullable Object> extends Deciding<T, Stream<Subtask<T>>> {
        private final Forks<T> forks = new Forks<>();

        AllSuccessful() {
            super(JoinDecision.ALL, 0);
        }

        @Override
        public boolean onFork(Subtask<? extends T> subtask) {
            boolean cancel = super.onFork(subtask);
            forks.add(subtask);
            return cancel;
        }

        @Override
        public Stream<Subtask<T>> result() throws Throwable {
            decision.throwIfFailed(Function.identity());
            return forks.inOrder.stream();
        }
    }

    /** Shuts down at the first success. */
    static final class AnySuccessful<T extends @Nullable Object> extends Deciding<T, T> {
        AnySuccessful() {
            super(1, JoinDecision.ALL);
        }

        @Override
        public T result() throws Throwable {
            return decision.firstSuccess(
                            Function.identity(), () -> new NoSuchElementException("no subtask has completed"))
                    .get();
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
