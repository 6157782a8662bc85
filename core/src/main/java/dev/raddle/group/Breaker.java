package dev.raddle.group;

import dev.raddle.group.CircuitBreaker.State;
import dev.raddle.time.Deadline;
import java.time.Duration;

/** The state of one group's breaker. Guarded by the group, except that the state may be read at any time. */
final class Breaker {

    /*
     * Overview.
     *
     *   CLOSED ── rate reached ──► OPEN ── probe is due ──► HALF_OPEN ── all probes are good ──► CLOSED
     *                                ▲                          │
     *                                └───── one is not good ────┘
     *
     * The window counts ends in the state CLOSED alone, and is cleared when that state begins. So in the other states
     * it shows the rates that have opened the breaker. It is also cleared when the breaker is opened by a call: then it
     * shows none.
     *
     * `admitted` is the number of probes that have their place: those that run, and those that were good. So
     * succeeded <= admitted <= probes, and the last good probe is the last that runs.
     */

    /** How a task has ended, if it counts. */
    enum End {
        GOOD(false, false),
        SLOW(false, true),
        FAILED(true, false),
        FAILED_SLOW(true, true);

        private final boolean hasFailed;
        private final boolean wasSlow;

        End(boolean hasFailed, boolean wasSlow) {
            this.hasFailed = hasFailed;
            this.wasSlow = wasSlow;
        }

        static End of(boolean hasFailed, boolean wasSlow) {
            return hasFailed ? wasSlow ? FAILED_SLOW : FAILED : wasSlow ? SLOW : GOOD;
        }
    }

    final CircuitBreaker plan;
    private final EndWindow window;
    private volatile State state = State.CLOSED; // written under the group
    private int admitted;
    private int succeeded;
    private int failedRounds; // of probes, in a row
    private long probeAt; // the moment of the next probe, or, if half-open, that of the first

    Breaker(CircuitBreaker plan) {
        this.plan = plan;
        this.window = plan.newWindow();
    }

    State state() {
        return state;
    }

    /** Counts the end of a task that began in the current state. */
    void record(End end, long now) {
        if (state == State.CLOSED) {
            window.add(end.hasFailed, end.wasSlow, now);
            if (plan.isReached(window)) {
                open(now, plan.openNanos(failedRounds));
            }
        } else if (state == State.HALF_OPEN) {
            if (end != End.GOOD) {
                failedRounds++;
                open(now, plan.openNanos(failedRounds));
            } else if (++succeeded == plan.probes()) {
                close();
            }
        }
    }

    /** Opens this, in any state, by a call. */
    void openByCall(long now, Duration length) {
        window.clear();
        failedRounds = 0;
        open(now, Deadline.nanos(length));
    }

    private void open(long now, long length) {
        state = State.OPEN;
        probeAt = now + length;
    }

    void close() {
        state = State.CLOSED;
        failedRounds = 0;
        window.clear();
    }

    /** Returns whether this is open and probes are due. */
    boolean isProbeDue(long now) {
        return state == State.OPEN && probeAt - now <= 0;
    }

    long probeAt() {
        return probeAt;
    }

    void halfOpen() {
        state = State.HALF_OPEN;
        admitted = 0;
        succeeded = 0;
    }

    /** Returns how many more tasks may start, if this is not closed. */
    int places() {
        return state == State.HALF_OPEN ? plan.probes() - admitted : 0;
    }

    void admitProbe() {
        admitted++;
    }

    /** Frees the place of a probe that has ended without counting. */
    void releaseProbe() {
        admitted--;
    }

    /** Returns the moment from which nothing is left to remember, if no task ends before. */
    long forgettableAt(long now) {
        return state == State.CLOSED ? window.forgettableAt(now) : probeAt + plan.openNanos(0);
    }

    GroupStats.Breaker stats(long now) {
        if (state == State.CLOSED) {
            window.age(now);
        }
        Duration nextProbe = state == State.OPEN ? Duration.ofNanos(Math.max(0, probeAt - now)) : null;
        return new GroupStats.Breaker(state, window.ends(), window.failureRate(), window.slowRate(), nextProbe);
    }
}
