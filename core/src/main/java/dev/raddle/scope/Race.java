package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.time.Alarm;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** One join of several alternatives, of which some values are needed. */
final class Race<T> {

    /*
     * Overview.
     *
     * `begun` alternatives have been submitted, `ended` of these have ended, some with a value, some with a failure. The race
     * is over as soon as enough have a value, or those that have not failed are too few; `counted` says so, and `over` is set
     * then. What ends afterwards, ends because of that, and does not count. All of it is guarded by this object's monitor,
     * under which nothing foreign runs.
     *
     * Alternatives that are staggered begin by an alarm, which is set anew by whoever begins one; one that ends without a
     * value, when no other is running, begins the next itself. An alarm that was overtaken finds another turn and does
     * nothing.
     *
     * When it is over the owner cancels what still runs, and waits until nothing of it is in the scope: losers have really
     * ended when the join returns. Who begins an alternative adds it to `contenders` in the same step, submits it after that,
     * and looks then whether it is over: so the owner knows of it, and one of the two cancels it, but not before those who
     * listen have heard that it was submitted.
     */

    /** An alternative, which tells when nothing of it is in the scope any more. */
    final class Contender extends ScopeRun<T> {
        private final Signal gone = new Signal();
        private boolean submitted; // guarded by the race

        Contender(ThreadScope scope, long id, Callable<? extends T> callable) {
            super(
                    scope,
                    id,
                    null,
                    callable,
                    scope.defaultRank(),
                    scope.retryPolicy(),
                    scope.limit(null),
                    seen,
                    scope.now());
        }

        void lose() {
            cancel(
                    new CancelledException("cancelled because a join in scope \"" + scope.name() + "\" is over"),
                    Runnable::run);
        }

        @Override
        void left() {
            gone.set();
        }
    }

    private final ThreadScope scope;
    private final JoinStrategy<T, ?> strategy;
    private final List<Callable<? extends T>> alternatives;
    private final Surroundings seen;
    private final Signal over = new Signal();
    private final List<Contender> contenders = new ArrayList<>(); // guarded by this
    private final List<T> values = new ArrayList<>(); // in order of completion; guarded by this
    private final TreeMap<Integer, Throwable> failures = new TreeMap<>(); // by place in the list; guarded by this
    private int begun; // guarded by this
    private int ended; // guarded by this
    private boolean counted; // whether the result is found, and who ends now ends because of it; guarded by this
    private @Nullable Alarm nextTurn; // guarded by this

    Race(ThreadScope scope, JoinStrategy<T, ?> strategy, List<Callable<? extends T>> alternatives) {
        this.scope = scope;
        this.strategy = strategy;
        this.alternatives = alternatives;
        this.seen = scope.capture();
    }

    /** Runs the race and returns the values that were needed, in order of completion. */
    List<T> run() throws InterruptedException {
        try {
            for (int first = strategy.stagger() == null ? alternatives.size() : 1; first > 0; first--) {
                begin(begunBefore());
            }
            awaitOver(contenders().getFirst());
        } finally {
            stop();
        }
        for (Contender contender : contenders()) {
            contender.gone.await();
        }
        return result();
    }

    /** Waits for the result; fails rather than to wait in a task for one that could never begin. */
    private void awaitOver(Contender first) throws InterruptedException {
        ScopeRun.Waiting waiting = first.beginWait();
        try {
            Dispatch.startAll();
            over.await();
        } finally {
            waiting.end();
        }
    }

    private synchronized int begunBefore() {
        return begun;
    }

    /** Begins the next alternative, if as many have begun as the caller thinks. */
    private void begin(int seen) {
        if (seen == alternatives.size()) {
            return;
        }
        Contender contender = new Contender(scope, scope.nextId(), alternatives.get(seen));
        synchronized (this) {
            if (begun != seen || counted) {
                return;
            }
            begun++;
            contenders.add(contender);
        }
        scope.submit(contender);
        boolean late;
        synchronized (this) {
            contender.submitted = true;
            late = counted;
        }
        contender.whenEnded(() -> ended(seen, contender));
        if (late) {
            contender.lose();
        } else {
            armNextTurn();
        }
    }

    private void armNextTurn() {
        Duration stagger = strategy.stagger();
        if (stagger == null) {
            return;
        }
        int seen;
        synchronized (this) {
            if (begun == alternatives.size() || counted) {
                return;
            }
            seen = begun;
        }
        Alarm turn = scope.time().after(stagger, () -> scope.elsewhere().execute(() -> begin(seen)));
        Alarm overtaken;
        synchronized (this) {
            overtaken = begun == seen && !counted ? nextTurn : turn;
            if (overtaken != turn) {
                nextTurn = turn;
            }
        }
        if (overtaken != null) {
            overtaken.cancel();
        }
    }

    private void ended(int place, Contender contender) {
        boolean decided;
        int next = -1;
        synchronized (this) {
            if (counted) {
                return;
            }
            ended++;
            switch (contender.result()) {
                case Outcome.Success<T> success -> addValue(success);
                case Outcome.Failure<T> failure -> failures.put(place, failure.error());
                case Outcome.Cancelled<T> cancelled -> failures.put(place, cancelled.cause());
                default -> throw new AssertionError("a task of a scope is neither rejected nor skipped");
            }
            decided = values.size() >= strategy.needed()
                    || alternatives.size() - failures.size() < strategy.needed()
                    || scope.gate().closed() != null;
            counted = decided;
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

    @SuppressWarnings("NullAway") // whether a value may be null is for the caller's T to say
    private void addValue(Outcome.Success<T> success) {
        if (values.size() < strategy.needed()) {
            values.add(success.value());
        }
    }

    private void stop() {
        Alarm pending;
        List<Contender> losers;
        synchronized (this) {
            counted = true;
            pending = nextTurn;
            losers = contenders.stream().filter(each -> each.submitted).toList();
        }
        if (pending != null) {
            pending.cancel();
        }
        losers.forEach(Contender::lose);
    }

    private synchronized List<Contender> contenders() {
        return List.copyOf(contenders);
    }

    private synchronized List<T> result() {
        if (values.size() >= strategy.needed()) {
            return values;
        }
        CancelledException closed = scope.gate().closed();
        if (closed != null) {
            ScopeTimeoutException expired = scope.expiredBy(closed);
            throw expired != null ? expired : closed;
        }
        throw new AggregateException(
                strategy + " in scope \"" + scope.name() + "\" is impossible: " + failures.size() + " of "
                        + alternatives.size() + " failed, " + strategy.needed() + " needed",
                List.copyOf(failures.values()));
    }
}
