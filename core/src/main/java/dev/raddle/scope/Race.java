package dev.raddle.scope;

import dev.raddle.kernel.PendingAlarm;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;

/** One join of several alternatives, which ends when enough of them have succeeded. */
final class Race<T> {

    /*
     * Overview.
     *
     * `begun` alternatives have begun, `ended` of these have ended, with a value or a failure. The race is over as soon
     * as enough alternatives have a value, or too few are left that have not failed: that is `decision`. Then `over` is
     * set. Alternatives that end afterwards were cancelled because of that and do not count. All of this is guarded by
     * this object's monitor, under which no user code runs.
     *
     * Staggered alternatives begin by an alarm. The thread that begins an alternative sets the alarm for the next one.
     * An alternative that ends without a value begins the next one itself if no other is running. An alarm that fires
     * after that sees that `begun` has changed and does nothing.
     *
     * When the race is over, or the joining thread is interrupted, that thread cancels the alternatives that still
     * run, and waits until none of them is in the scope: they have really ended when the join returns or throws. The
     * thread that begins an alternative increments `begun` and adds it to `contenders` in one step, registers for its
     * end, then submits it, which may run it in place, and then reads whether the race is over. So the joining thread
     * sees every alternative, and one of the two threads cancels it, but only after listeners were notified of its
     * submission.
     */

    /** An alternative, with a signal that is set when it has left the scope. */
    final class Contender extends ScopeRun<T> {
        private final Signal left = new Signal();
        private boolean submitted; // guarded by the race

        Contender(ScopeTasks scope, long id, Callable<? extends T> callable) {
            super(scope, id, null, callable, scope.limited(shared), scope.time.nanoTime());
        }

        void cancelAsLoser() {
            cancel(
                    new CancelledException("cancelled because a join in scope \"" + scope.name + "\" is over"),
                    Runnable::run);
        }

        @Override
        void leftScope() {
            left.set();
        }
    }

    /** A failed or cancelled alternative. */
    private record Failed(int index, Throwable error) {}

    private final ScopeTasks scope;
    private final JoinStrategy<T, ?> strategy;
    private final List<Callable<? extends T>> alternatives;
    private final RunSettings shared; // by all alternatives
    private final Signal over = new Signal();
    private final List<Contender> contenders = new ArrayList<>(); // guarded by this
    private final JoinDecision<T, Failed> decision; // changes guarded by this
    private int begun; // guarded by this
    private int ended; // guarded by this
    private PendingAlarm nextAlarm = new PendingAlarm(); // guarded by this

    Race(ScopeTasks scope, JoinStrategy<T, ?> strategy, List<Callable<? extends T>> alternatives) {
        this.scope = scope;
        this.strategy = strategy;
        this.alternatives = alternatives;
        this.shared = scope.defaultSettings();
        this.decision = new JoinDecision<>(strategy.needed(), alternatives.size() - strategy.needed());
    }

    /** Runs the race and returns the needed values in order of completion. */
    List<T> run() throws InterruptedException {
        try {
            for (int first = strategy.stagger() == null ? alternatives.size() : 1; first > 0; first--) {
                begin(begunCount());
            }
            awaitOver(contenders().getFirst());
        } finally {
            stop();
            awaitLeft();
        }
        return result();
    }

    /** Waits for the result. Throws if the caller is a task and waits for an alternative that could never begin. */
    private void awaitOver(Contender first) throws InterruptedException {
        ScopeRun.WaitRegistration waiting = first.beginWait();
        try {
            over.await();
        } finally {
            waiting.remove();
        }
    }

    private synchronized int begunCount() {
        return begun;
    }

    /** Begins the next alternative, if the number of begun ones is still the one that the caller has seen. */
    private void begin(int seen) {
        if (seen == alternatives.size()) {
            return;
        }
        Contender contender = new Contender(scope, scope.nextId(), alternatives.get(seen));
        synchronized (this) {
            if (begun != seen || decision.isOver()) {
                return;
            }
            begun++;
            contenders.add(contender);
        }
        contender.whenSettled(() -> ended(seen, contender)); // which collects a further alternative that runs in place
        try {
            scope.submit(contender);
        } catch (Throwable failure) {
            contender.left.set(); // it is not awaited
            throw failure;
        }
        boolean late;
        synchronized (this) {
            contender.submitted = true;
            late = decision.isOver();
        }
        if (late) {
            contender.cancelAsLoser();
        } else {
            armNext();
        }
    }

    private void armNext() {
        Duration stagger = strategy.stagger();
        if (stagger == null) {
            return;
        }
        PendingAlarm next = new PendingAlarm();
        PendingAlarm obsolete;
        int seen;
        synchronized (this) {
            if (begun == alternatives.size() || decision.isOver()) {
                return;
            }
            seen = begun;
            obsolete = nextAlarm;
            nextAlarm = next;
        }
        obsolete.disarm();
        next.arm(scope.time, stagger, () -> scope.offload().execute(() -> begin(seen)));
    }

    private void ended(int index, Contender contender) {
        boolean decided;
        int next = -1;
        synchronized (this) {
            if (decision.isOver()) {
                return;
            }
            ended++;
            decided = decides(index, contender.settledOutcome());
            if (!decided && scope.pending.isClosed()) {
                decision.end();
                decided = true;
            }
            if (!decided && ended == begun) {
                next = begun;
            }
        }
        if (decided) {
            over.set();
        } else if (next >= 0) {
            begin(next);
        }
    }

    @SuppressWarnings("NullAway") // T says whether a value may be null
    private boolean decides(int index, Outcome<T> outcome) {
        return switch (outcome) {
            case Outcome.Success<T> success -> decision.succeeded(success.value());
            case Outcome.Failure<T> failure -> decision.failed(new Failed(index, failure.error()));
            case Outcome.Cancelled<T> cancelled -> decision.failed(new Failed(index, cancelled.cause()));
            default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
        };
    }

    private void stop() {
        PendingAlarm pending;
        List<Contender> losers;
        synchronized (this) {
            decision.end();
            pending = nextAlarm;
            losers = contenders.stream().filter(each -> each.submitted).toList();
        }
        pending.disarm();
        losers.reversed().forEach(Contender::cancelAsLoser); // so that none begins with the permit of an earlier one
    }

    /** Waits until no alternative is in the scope. An interrupt does not end this wait, and is set again. */
    private void awaitLeft() {
        boolean interrupted = false;
        for (Contender contender : contenders()) {
            while (!contender.left.isSet()) {
                try {
                    contender.left.await();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized List<Contender> contenders() {
        return List.copyOf(contenders);
    }

    private List<T> result() {
        if (decision.hasSucceeded()) {
            return decision.successes();
        }
        RuntimeException closed = scope.pending.closeException();
        if (closed != null) {
            throw closed;
        }
        List<Failed> failures = decision.failures();
        failures.sort(Comparator.comparingInt(Failed::index));
        throw new AggregateException(
                strategy + " in scope \"" + scope.name + "\" is impossible: " + failures.size() + " of "
                        + alternatives.size() + " failed, " + strategy.needed() + " needed",
                failures.stream().map(Failed::error).toList());
    }
}
