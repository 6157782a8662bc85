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

    /** A joiner that returns all subtasks in the order of their forks. */
    abstract static class Listing<T extends @Nullable Object> implements Joiner<T, Stream<Subtask<T>>> {
        private final List<Subtask<T>> inOrder = new ArrayList<>(); // used only by the owner

        @Override
        @SuppressWarnings("unchecked") // a subtask only returns values of type T
        public final boolean onFork(Subtask<? extends T> subtask) {
            boolean cancel = Joiner.super.onFork(subtask);
            inOrder.add((Subtask<T>) subtask);
            return cancel;
        }

        @Override
        public Stream<Subtask<T>> result() throws Throwable {
            return inOrder.stream();
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
    static final class AllSuccessful<T extends @Nullable Object> extends Listing<T> {
        private final JoinDecision<Subtask<? extends T>, Throwable> decision = new JoinDecision<>(JoinDecision.ALL, 0);

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            return StructuredTaskScope.decides(decision, subtask);
        }

        @Override
        public Stream<Subtask<T>> result() throws Throwable {
            decision.throwIfFailed(Function.identity());
            return super.result();
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
    static final class AllUntil<T extends @Nullable Object> extends Listing<T> {
        private final Predicate<? super Subtask<? extends T>> isDone;

        AllUntil(Predicate<? super Subtask<? extends T>> isDone) {
            this.isDone = isDone;
        }

        @Override
        public boolean onComplete(Subtask<? extends T> subtask) {
            StructuredTaskScope.ensureComplete(subtask);
            return isDone.test(subtask);
        }
    }
}
