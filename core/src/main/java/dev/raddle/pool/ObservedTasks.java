package dev.raddle.pool;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.Propagation;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The submitted tasks of a pool that has a {@link TaskListener} or propagators: their identities, captured contexts and
 * outcomes.
 */
final class ObservedTasks {

    /*
     * Overview.
     *
     * A task cannot be wrapped: queues order the Runnables of users, callers search for them, and hooks and handlers
     * receive them. So a submission is stored in a map, by the identity of its Runnable. A Runnable that was submitted
     * several times has a list of submissions: a worker runs the first that has not started, and a rejection settles
     * the last. A search passes only submissions that are running, so it takes no longer for a longer list.
     *
     * One field holds the state of a submission:
     *
     *   null -> ENTERING -> RUNNING -> Outcome   by the worker: onStarted is called before RUNNING
     *   null, RUNNING -> Outcome                 by the thread that ends it from outside: it calls onSettled
     *   ENTERING -> Outcome                      the same; the worker calls onSettled after onStarted has returned
     *   null -> REJECTING -> Outcome, or null    by the submitter, while the handler of rejected tasks runs
     *
     * The step to the Outcome is made once, so onSettled is called once, and a submission leaves the map with it. A
     * future of the pool settles its submission before it is done (ObservedFuture). Every other task is settled when
     * it has returned: a future by its state, a Runnable by what it has thrown.
     *
     * A submission whose Runnable was removed from a user-supplied queue by its user, of which the pool is not
     * notified, is settled when the pool terminates.
     */

    private static final Object ENTERING = new Object();
    private static final Object RUNNING = new Object();
    private static final Object REJECTING = new Object();

    /** A Runnable, compared by identity. */
    private static final class Key {
        private final Runnable task;

        Key(Runnable task) {
            this.task = InvokeAny.futureOf(task);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && key.task == task;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(task);
        }
    }

    /** An element of a circular list, in which the list itself is between the last and the first. */
    abstract static class Node {
        Node previous = this; // guarded by the list
        Node next = this; // guarded by the list
    }

    /** One submission of a task, from its notification to its end. */
    final class Submission extends Node implements TaskIdentity {
        private final Key key;
        private final String name;
        private final CapturedContext context = propagation.capture(null);
        private final long submittedAt = listener == null ? 0 : time.nanoTime();
        private final AtomicReference<@Nullable Object> state = new AtomicReference<>();
        private volatile long startedAt; // written before the step to RUNNING
        private volatile boolean accepted;

        Submission(Runnable task) {
            this.key = new Key(task);
            this.name = Observation.nameOf(task);
        }

        /** Calls the task in its context, after the notification of its start. */
        void run(Runnable task) {
            long now = listener == null ? 0 : time.nanoTime();
            if (listener != null) {
                listener.onStarted(this, Math.max(0, now - submittedAt));
            }
            startedAt = now;
            if (state.compareAndExchange(ENTERING, RUNNING) instanceof Outcome<?> outcome) {
                notifySettled(outcome, 0); // cancelled meanwhile
            }
            try {
                context.call(() -> {
                    task.run();
                    return true;
                });
            } catch (Throwable failure) {
                settle(Outcome.ofThrown(failure));
                throw ObservedTasks.<RuntimeException>unchecked(failure);
            }
            if (!(key.task instanceof ObservedFuture<?> future) || future.isDone()) {
                settle(outcomeOf(key.task));
            } else if (!future.isOf(ObservedTasks.this)) { // else its canceller settles it
                settle(new Outcome.Cancelled<>(new CancellationException("the future is being cancelled")));
            }
        }

        /** Settles this submission, unless it is settled or being rejected. */
        void settle(Outcome<?> outcome) {
            Object before = state.get();
            while (canSettle(before) && !state.compareAndSet(before, outcome)) {
                before = state.get();
            }
            if (canSettle(before)) {
                settled(before, outcome);
            }
        }

        private static boolean canSettle(@Nullable Object state) {
            return state != REJECTING && !(state instanceof Outcome<?>);
        }

        /** Ends a rejection that has begun: the submission waits again. */
        void continueWaiting() {
            state.set(null);
        }

        /** Called after the step to an outcome. */
        void settled(@Nullable Object before, Outcome<?> outcome) {
            submissions.computeIfPresent(key, (same, list) -> list.remove(this) ? null : list);
            if (before != ENTERING) { // otherwise the worker notifies
                boolean ran = before == RUNNING && listener != null;
                notifySettled(outcome, ran ? Math.max(0, time.nanoTime() - startedAt) : 0);
            }
        }

        private void notifySettled(Outcome<?> outcome, long ranNanos) {
            if (listener != null) {
                listener.onSettled(this, outcome, ranNanos);
            }
        }

        @Override
        public String owner() {
            return pool;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String toString() {
            return "task " + name + " of pool \"" + pool + "\"";
        }
    }

    /** The submissions of one Runnable that can still settle, oldest first. In the map unless it is empty. */
    private static final class Submissions extends Node {

        synchronized Submissions append(Submission added) {
            added.previous = previous;
            added.next = this;
            previous.next = added;
            previous = added;
            return this;
        }

        /** Removes a submission, which is in this list. Returns whether the list is empty then. */
        synchronized boolean remove(Submission removed) {
            removed.previous.next = removed.next;
            removed.next.previous = removed.previous;
            return next == this;
        }

        /** Returns the first submission that is not being rejected. */
        synchronized @Nullable Submission first() {
            Node each = next;
            while (each instanceof Submission submission && submission.state.get() == REJECTING) {
                each = each.next;
            }
            return each instanceof Submission found ? found : null;
        }

        /** Returns the first or the last submission that has not started. */
        synchronized @Nullable Submission waiting(boolean fromLast) {
            Node each = fromLast ? previous : next;
            while (each instanceof Submission submission && submission.state.get() != null) {
                each = fromLast ? each.previous : each.next;
            }
            return each instanceof Submission found ? found : null;
        }

        synchronized List<Submission> all() {
            List<Submission> all = new ArrayList<>();
            for (Node each = next; each instanceof Submission submission; each = each.next) {
                all.add(submission);
            }
            return all;
        }
    }

    private final String pool;
    private final TimeSource time;
    private final @Nullable GuardedListener listener;
    private final Propagation propagation;
    private final ConcurrentHashMap<Key, Submissions> submissions = new ConcurrentHashMap<>();

    ObservedTasks(PoolBuilder settings) {
        pool = settings.name;
        time = settings.timeSource;
        propagation = settings.propagation;
        listener = GuardedListener.of(settings.taskListener, propagation.sink(), "pool");
    }

    ExceptionSink sink() {
        return propagation.sink();
    }

    /** Captures the submitter's context and notifies the listener. Ignores the tasks of other APIs. */
    void submitted(Runnable task) {
        if (task instanceof TaskIdentity || task instanceof PlacedTask) {
            return;
        }
        Submission submission = new Submission(task);
        submissions.compute(
                submission.key, (key, list) -> (list == null ? new Submissions() : list).append(submission));
        if (listener != null) {
            listener.onSubmitted(submission);
        }
    }

    /** Notes that the pool has accepted a task. */
    void accepted(Runnable task) {
        Submission submission = find(task, true);
        if (submission != null) {
            submission.accepted = true;
        }
    }

    /** Runs a task in its context and notifies the listener; only runs a task that is not observed or is settled. */
    void run(Runnable task) {
        if (outcomeOf(InvokeAny.futureOf(task)) instanceof Outcome.Cancelled<?> cancelled) {
            settleWaiting(task, false, cancelled); // a future that has not settled itself, and will not run
        }
        Submission submission = move(task, false, ENTERING);
        if (submission == null) {
            task.run();
        } else {
            submission.run(task);
        }
    }

    /** Begins the rejection of the last submission of a task. Returns null if there is none. */
    @Nullable
    Submission beginRejection(Runnable task) {
        return move(task, true, REJECTING);
    }

    /** Settles a submission whose rejection has begun. */
    void rejected(@Nullable Submission submission, Outcome<?> outcome) {
        if (submission != null) {
            submission.state.set(outcome);
            submission.settled(REJECTING, outcome);
        }
    }

    /** Settles the submission of a future that is about to be done. */
    void done(Runnable future, Outcome<?> outcome) {
        Submissions list = submissions.get(new Key(future));
        Submission submission = list == null ? null : list.first();
        if (submission != null) {
            submission.settle(outcome);
        }
    }

    /** Settles the accepted submissions. */
    void settleAccepted(Outcome<?> outcome) {
        for (Submissions list : submissions.values()) {
            for (Submission each : list.all()) {
                if (each.accepted) {
                    each.settle(outcome);
                }
            }
        }
    }

    /** Settles the first or the last submission of a task that has not started. */
    void settleWaiting(Runnable task, boolean last, Outcome<?> outcome) {
        Submission submission = move(task, last, outcome);
        if (submission != null) {
            submission.settled(null, outcome);
        }
    }

    /** Moves a submission of a task that has not started to another state. Returns null if there is none. */
    private @Nullable Submission move(Runnable task, boolean last, Object to) {
        Submission submission = find(task, last);
        while (submission != null && !submission.state.compareAndSet(null, to)) {
            submission = find(task, last);
        }
        return submission;
    }

    /** Returns the first or the last submission of a task that has not started. */
    private @Nullable Submission find(Runnable task, boolean last) {
        Submissions list = submissions.get(new Key(task));
        return list == null ? null : list.waiting(last);
    }

    private static Outcome<?> outcomeOf(Runnable task) {
        if (task instanceof Future<?> future) {
            try {
                return switch (future.state()) {
                    case SUCCESS -> new Outcome.Success<>(future.resultNow());
                    case FAILED -> Outcome.ofThrown(future.exceptionNow());
                    case CANCELLED -> new Outcome.Cancelled<>(new CancellationException("the future was cancelled"));
                    case RUNNING -> new Outcome.Success<>(null); // is completed by other means than its run
                };
            } catch (Throwable failure) { // of a future of a user
                UserCode.uncaught(failure);
            }
        }
        return new Outcome.Success<>(null);
    }

    /** Returns never: throws what a task has thrown, which may be a checked exception. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <X extends Throwable> X unchecked(Throwable failure) throws X {
        throw (X) failure;
    }
}
