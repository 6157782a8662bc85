package dev.raddle.scope;

import dev.raddle.lock.Fields;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The decision of one join: receives each completion once, keeps those that the result needs, and returns to exactly
 * one caller that the join has enough, so that this caller cancels the rest. Every failure rule of the scopes is a
 * number of successes and a number of failures.
 *
 * @param <S> what is kept of a success
 * @param <F> what is kept of a failure
 */
final class JoinDecision<S extends @Nullable Object, F> {

    /*
     * Overview.
     *
     * `needed` successes decide, and so does one failure more than are `tolerated`. What completes after that is
     * neither kept nor decides anything.
     *
     *   rule                      needed  tolerated  the deciding caller    value of the join, or its exception
     *   ------------------------  ------  ---------  ---------------------  ---------------------------------------
     *   ShutdownOnSuccess         1       ALL        shuts the scope down   the first success, or else (1) the first
     *                                                                       failure
     *   ShutdownOnFailure         ALL     0          shuts the scope down   the first failure, if there is one
     *   JoinStrategy of k of n    k       n - k      cancels the other      k values in order of completion, or all
     *                                                alternatives (2)       failures in order of the alternatives (3)
     *   FAIL_FAST                 ALL     0          cancels the others     the first failure by time, with the other
     *                                                of the scope (4)       failures suppressed (5)
     *   CANCEL_OTHERS             ALL     0          the same (4)           counts, and failures in order of submission
     *   COLLECT_ALL               ALL     ALL                               all failures in order of submission
     *   SUPERVISOR, IGNORE_ALL    ALL     ALL                               counts, with and without the failures
     *
     * The join of a StructuredTaskScope ends when the scope is shut down or every subtask has ended; a race ends when
     * it is decided; a wait of a ThreadScope ends only when every task is settled, which cancelled tasks are at once.
     *
     * If a deadline has cancelled a task that is waited for, the wait throws ScopeTimeoutException under every policy,
     * with the failures suppressed. If a closed scope has ended a race, the race throws the exception of the scope.
     *
     * Rules that look alike differ for these reasons:
     *
     *   (1) Without a completion, ShutdownOnSuccess throws IllegalStateException: JEP 462 says so. Neither of its rules
     *       suppresses later failures, because these are discarded with their subtasks.
     *   (2) The joining thread cancels them, not the thread that decides: it also waits until they have left the scope.
     *   (3) A cancelled alternative counts as a failure, because it will have no value. Everywhere else a cancelled
     *       task does not count: its canceller knows why it has no value. A scope that is closed decides a race, too.
     *   (4) The scope stays open, because a ThreadScope may be used after a failed wait. Only a failure during the wait
     *       cancels (see decision 0016), so the wait ends this decision when it returns.
     *   (5) A wait begun late is notified of all failures at once. The tasks know when they failed, so the exception
     *       is the first by time, which may be another than the failure that has cancelled the others. A task that
     *       fails while it is being cancelled is settled as cancelled and is not suppressed.
     *
     * `state` only increases. The lists of kept completions grow by compare-and-set, up to the number that decides; of
     * completions that decide nothing, only the first failure is kept.
     */

    /** The number of successes or failures that no join reaches. */
    static final int ALL = Integer.MAX_VALUE;

    private static final byte UNDECIDED = 0;
    private static final byte DECIDED = 1;
    private static final byte ENDED = 2;

    private static final VarHandle STATE = Fields.handle(MethodHandles.lookup(), "state", byte.class);
    private static final VarHandle SUCCESSES = Fields.handle(MethodHandles.lookup(), "successes", Kept.class);
    private static final VarHandle FAILURES = Fields.handle(MethodHandles.lookup(), "failures", Kept.class);

    /** A completion, with the number of completions of its kind up to it. */
    private record Kept<C extends @Nullable Object>(
            C completion, int number, @Nullable Kept<C> earlier) {}

    private final int needed;
    private final int tolerated;
    private volatile byte state;
    private volatile @Nullable Kept<S> successes; // latest first
    private volatile @Nullable Kept<F> failures; // latest first

    JoinDecision(int needed, int tolerated) {
        this.needed = needed;
        this.tolerated = tolerated;
    }

    /** Notifies this decision of a success. Returns true if it has decided, so that the caller cancels the rest. */
    boolean succeeded(S success) {
        return needed != ALL && state == UNDECIDED && keep(SUCCESSES, success, needed) && decide();
    }

    /** Notifies this decision of a failure. Returns true if it has decided, so that the caller cancels the rest. */
    boolean failed(F failure) {
        if (state != UNDECIDED || (tolerated == ALL && failures != null)) {
            return false;
        }
        int most = tolerated == ALL ? 1 : tolerated + 1;
        return keep(FAILURES, failure, most) && tolerated != ALL && decide();
    }

    /** Adds a completion to a list that is not full. Returns whether it is full now. */
    @SuppressWarnings("unchecked") // each list has completions of one type
    private <C extends @Nullable Object> boolean keep(VarHandle list, C completion, int most) {
        while (true) {
            Kept<C> latest = (Kept<C>) list.getVolatile(this);
            int number = latest == null ? 1 : latest.number() + 1;
            if (number > most) {
                return false;
            }
            if (list.compareAndSet(this, latest, new Kept<>(completion, number, latest))) {
                return number == most;
            }
        }
    }

    private boolean decide() {
        return STATE.compareAndSet(this, UNDECIDED, DECIDED);
    }

    /** Ends the join. What completes afterwards is not kept and decides nothing. */
    void end() {
        state = ENDED;
    }

    /** Ends the join and releases what was kept. */
    void clear() {
        end();
        successes = null;
        failures = null;
    }

    /** Returns whether further completions are unneeded. */
    boolean isOver() {
        return state != UNDECIDED;
    }

    /** Returns whether a failure was the first, and has decided a join that has not ended. */
    boolean isDecidedBy(F failure) {
        Kept<F> first = failures;
        return state == DECIDED && first != null && first.number() == 1 && first.completion() == failure;
    }

    /** Returns whether there are as many successes as needed. */
    boolean hasSucceeded() {
        Kept<S> latest = successes;
        return latest != null && latest.number() >= needed;
    }

    private static <C extends @Nullable Object> C first(Kept<C> latest) {
        Kept<C> first = latest;
        for (Kept<C> earlier = latest; earlier != null; earlier = earlier.earlier()) {
            first = earlier;
        }
        return first.completion();
    }

    /** Returns the kept successes in order of completion. */
    List<S> successes() {
        return inOrder(successes);
    }

    /** Returns the kept failures in order of completion. */
    List<F> failures() {
        return inOrder(failures);
    }

    private static <C extends @Nullable Object> List<C> inOrder(@Nullable Kept<C> latest) {
        List<C> found = new ArrayList<>(latest == null ? 0 : latest.number());
        for (Kept<C> each = latest; each != null; each = each.earlier()) {
            found.add(each.completion());
        }
        Collections.reverse(found);
        return found;
    }

    /** Returns the first failure, or null if none was kept. */
    @Nullable
    F firstFailure() {
        Kept<F> latest = failures;
        return latest == null ? null : first(latest);
    }

    /**
     * Returns the first success or throws.
     *
     * @param <X> the type of the exception
     * @param esf the function that creates the exception from the first failure
     * @param nothing the supplier of the exception if nothing has completed
     * @throws X if there is no success and at least one failure
     */
    <X extends Throwable> S firstSuccess(
            Function<? super F, ? extends X> esf, Supplier<? extends RuntimeException> nothing) throws X {
        Kept<S> success = successes;
        if (success != null) {
            return first(success);
        }
        throwIfFailed(esf);
        throw nothing.get();
    }

    /**
     * Throws if there is a failure.
     *
     * @param <X> the type of the exception
     * @param esf the function that creates the exception from the first failure
     * @throws X if there is a failure
     */
    <X extends Throwable> void throwIfFailed(Function<? super F, ? extends X> esf) throws X {
        F failure = firstFailure();
        if (failure != null) {
            throw Objects.requireNonNull(esf.apply(failure), "esf returned null");
        }
    }
}
