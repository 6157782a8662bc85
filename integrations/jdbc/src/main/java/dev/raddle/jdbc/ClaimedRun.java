package dev.raddle.jdbc;

import dev.raddle.flow.CompensationFailure;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.RunOptions;
import dev.raddle.jdbc.FlowServiceStats.Execution;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One claim of a run by this worker: executes the run to its end, or until the claim is lost. */
final class ClaimedRun {

    /** How a claim ended. */
    sealed interface End {
        /** The run has ended, and nothing remains to be done. */
        record Done() implements End {}

        /** Another worker has the run. */
        record Lost() implements End {}

        /**
         * The run waits for another claim.
         *
         * @param problem the reason why it cannot continue here; null if it can
         * @param delay the time until then
         * @param hasOtherPlan whether the reason is that the run began with another plan than this worker has
         */
        record Waits(@Nullable String problem, Duration delay, boolean hasOtherPlan) implements End {
            Waits(@Nullable String problem, Duration delay) {
                this(problem, delay, false);
            }
        }

        /**
         * The run only waits, and needs no worker meanwhile.
         *
         * @param length the time until it has to continue
         * @param known the nodes whose signals were delivered
         */
        record Parked(Duration length, Set<String> known) implements End {}
    }

    private static final Logger LOG = LoggerFactory.getLogger(ClaimedRun.class);
    private static final long PAUSE_NANOS = 200_000_000;
    private static final int NAMED_FAILURES = 10;
    private static final Duration AFTER_PROBLEM = Duration.ofSeconds(10);
    private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);
    private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);
    private static final End AT_ONCE = new End.Waits(null, Duration.ZERO);

    private final RunTable runs;
    private final Registration<?> registration;
    private final RunTable.Claim claim;
    private final JdbcJournal journal;
    private volatile @Nullable FlowRun<?> run; // null until it has started
    private final long begun = System.nanoTime();
    private final AtomicBoolean attended = new AtomicBoolean();
    private final ReentrantLock delivering = new ReentrantLock();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet(); // nodes with signals; added under delivering
    private boolean mayHaveOldSignals; // of an earlier try; guarded by delivering
    private volatile @Nullable String cancelReason;

    /** Whether the run was abandoned because it only waits. Null until that was tried; set before each attempt. */
    private volatile @Nullable CompletableFuture<End.@Nullable Parked> parking;

    ClaimedRun(RunTable runs, Registration<?> registration, RunTable.Claim claim, JdbcJournal journal) {
        this.runs = runs;
        this.registration = registration;
        this.claim = claim;
        this.journal = journal;
        cancelReason = claim.cancelReason();
        mayHaveOldSignals = claim.isAgain();
    }

    String id() {
        return claim.id();
    }

    /**
     * Returns whether the next run that has lost its worker must not be begun here yet: this one has, it has recorded
     * nothing since, and it was begun less than a time ago. It may be the one that kills workers.
     */
    boolean isOnProbation(Duration time) {
        return !journal.hasAdvanced() && System.nanoTime() - begun < time.toNanos();
    }

    // Called by the thread of the claim.

    /** Lets the run be stuck instead of executing it, because it has lost its workers too often. */
    End stickLost() {
        try {
            List<String> nodes = runs.lostNodes(id());
            String where = nodes.isEmpty()
                    ? "what it was doing then is not recorded"
                    : "it was executing " + String.join(", ", quoted(nodes)) + " then";
            String problem = "it has lost its worker " + claim.losses() + " times without a record in between, and "
                    + where + "; see why the processes ended, and run it again to continue";
            return stick(problem);
        } catch (SQLException failure) {
            return new End.Waits(textOf(failure), AFTER_OUTAGE);
        }
    }

    private End stick(String problem) throws SQLException {
        LOG.error("{} is stuck: {}", this, problem);
        return runs.stick(id(), claim.epoch(), problem) ? new End.Done() : new End.Lost();
    }

    private static List<String> quoted(List<String> nodes) {
        return nodes.stream().map(node -> "node \"" + node + "\"").toList();
    }

    /** Executes the run in this JVM. */
    End execute() {
        try {
            return execute(registration);
        } catch (IOException | SQLException | RuntimeException cannotContinue) {
            if (isOutage(cannotContinue)) {
                return new End.Waits(null, AFTER_OUTAGE);
            }
            return run == null && cancelReason != null
                    ? cancelUnstarted(cannotContinue)
                    : new End.Waits(
                            textOf(cannotContinue), AFTER_PROBLEM, cannotContinue instanceof OtherPlanException);
        }
    }

    /** Ends a run that was cancelled, and cannot begin because of its plan, its parameter or its records. */
    private End cancelUnstarted(Exception cause) {
        journal.endUnstarted();
        try {
            boolean isRecorded =
                    recordEnd(new RunTable.Ended(FlowStatus.CANCELLED.name(), null, RecordedFailure.of(cause), null));
            return isRecorded ? new End.Done() : new End.Lost();
        } catch (SQLException refused) {
            return new End.Waits(textOf(refused), AFTER_PROBLEM);
        }
    }

    private static boolean isOutage(Throwable failure) {
        return Database.causes(failure).stream()
                .anyMatch(each -> each instanceof SQLException sql && Database.isTemporary(sql));
    }

    private static String textOf(Throwable failure) {
        List<Throwable> causes = Database.causes(failure);
        String cause =
                causes.size() < 2 ? null : RecordedFailure.of(causes.get(1)).message();
        return RecordedFailure.of(failure).message() + (cause == null ? "" : ": " + cause);
    }

    @SuppressWarnings("unchecked") // the parameter was encoded by the codec of this registration
    private <P> End execute(Registration<P> registered) throws IOException, SQLException {
        P parameter = (P) registered.values().decode(claim.parameter());
        RunOptions options = registered
                .options()
                .withSavedContext(claim.context())
                .addScopedValue(JdbcJournal.CURRENT)
                .withJournal(journal, claim.id());
        if (!claim.again().isEmpty()) {
            options = options.rerun(claim.again().toArray(String[]::new));
        }
        RunOptions chosen = options;
        FlowRun<?> started = ScopedValue.where(JdbcJournal.CURRENT, journal)
                .<FlowRun<?>, RuntimeException>call(() -> registered.plan().start(parameter, chosen));
        run = started;
        journal.setDelivery(this::deliverSent);
        if (claim.isSignalled()) {
            deliverSent(); // otherwise the next look would; a run that is being cancelled received them before that
        }
        catchUp(started);
        FlowResult<?> result;
        try {
            result = started.join();
        } catch (InterruptedException closing) {
            lose("the service was closed", true);
            return AT_ONCE;
        }
        End.Parked parked = result.status() == FlowStatus.LOST ? parked() : null;
        if (parked != null) {
            started.close(); // no thread is inside
            return parked;
        }
        if (result.status() == FlowStatus.LOST) {
            return journal.mustContinue() ? again() : new End.Lost(); // without waiting for actions that go on
        }
        End end = end(result);
        started.close(); // counts as a run until actions that were too late have returned
        return end;
    }

    /** Returns when the run continues; with a delay that grows as long as it records nothing, if there is a problem. */
    private End again() {
        String problem = journal.problem();
        if (problem == null) {
            return AT_ONCE;
        }
        Duration delay = AFTER_OUTAGE.multipliedBy(1L << Math.min(10, journal.claimsInVain()));
        return new End.Waits(problem, delay.compareTo(LONGEST_DELAY) < 0 ? delay : LONGEST_DELAY);
    }

    /** Returns how the run was parked, or null if it was lost in another way. */
    private End.@Nullable Parked parked() {
        CompletableFuture<End.@Nullable Parked> decision = parking;
        End.Parked parked = decision == null ? null : decision.join(); // the attending thread is about to complete it
        if (parked == null || journal.isLost()) {
            return null;
        }
        journal.giveUp("it only waits", false);
        return parked;
    }

    /** Applies the requests that came before the run had started. */
    private void catchUp(FlowRun<?> started) {
        if (journal.isLost()) {
            started.abandon("its claim was lost");
        }
        String reason = cancelReason;
        if (reason != null) {
            started.cancel(reason);
        }
    }

    private End end(FlowResult<?> result) throws SQLException {
        String undone = failedCompensations(result);
        if (!journal.hasEnd() && undone != null) {
            return stick("it is " + result.status() + ", and is not undone: " + undone
                    + "; remove the cause, and run it again to go on undoing");
        }
        if (!journal.hasEnd()) {
            return new End.Waits("its end could not be recorded", AFTER_PROBLEM);
        }
        byte @Nullable [] value = null;
        String problem = null;
        if (result.status() == FlowStatus.SUCCESS || result.status() == FlowStatus.DEGRADED) {
            try {
                value = new RunValue(registration.values())
                        .encode(result, registration.plan().nodes());
            } catch (IOException | RuntimeException noValue) {
                problem = "it has no value: " + textOf(noValue);
            }
        }
        RunTable.Ended ended = new RunTable.Ended(result.status().name(), value, failureOf(result), problem);
        return recordEnd(ended) ? new End.Done() : new End.Lost();
    }

    private static @Nullable String failedCompensations(FlowResult<?> result) {
        List<CompensationFailure> failures = result.compensationFailures().stream()
                .filter(failure -> failure.node() != null) // otherwise the decision to undo was not recorded
                .toList();
        if (failures.isEmpty()) {
            return null;
        }
        String first =
                failures.stream().limit(NAMED_FAILURES).map(String::valueOf).collect(Collectors.joining("; "));
        int others = failures.size() - NAMED_FAILURES;
        return others > 0 ? first + "; and " + others + " more" : first;
    }

    /** Records the end of the run, also if the database is away meanwhile. Returns false if the claim was lost. */
    private boolean recordEnd(RunTable.Ended ended) throws SQLException {
        while (true) {
            try {
                return runs.end(claim.id(), claim.epoch(), journal.endNumber(), ended);
            } catch (SQLException away) {
                if (!Database.isTemporary(away)) {
                    throw away;
                }
                if (journal.isLost() || Thread.interrupted()) {
                    return false;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private static @Nullable RecordedFailure failureOf(FlowResult<?> result) {
        Throwable failure = result.failure();
        return failure == null ? null : RecordedFailure.of(failure);
    }

    /*
     * Called by the thread that watches, which is one for all runs. Cancelling, signalling and abandoning a run call
     * user code: result callbacks and listeners. So this happens in a virtual thread of the run, one at a time, and a
     * slow callback delays only its own run. `attended` is true while such a thread exists; the fields that are
     * confined to it are handed over by its changes. What is missed meanwhile is noticed at the next look.
     */

    /**
     * Applies requests to this run, and parks it if it only waits.
     *
     * @param reason the reason of a request to cancel, or null
     * @param signalled the nodes to which signals were sent
     * @param parkAfter the time without progress after which a run is parked
     */
    void attend(@Nullable String reason, List<String> signalled, Duration parkAfter) {
        if (!attended.compareAndSet(false, true)) {
            return;
        }
        boolean isCancel = reason != null && cancelReason == null;
        boolean isSignal = run != null && !delivered.containsAll(signalled);
        if (!isCancel && !isSignal && !mayPark(parkAfter)) {
            attended.set(false);
            return;
        }
        Thread.ofVirtual().name("raddle-attend-" + id()).start(() -> {
            try {
                if (isSignal) {
                    deliver(); // before the cancel, since no signal is stored after its request
                }
                if (reason != null) {
                    cancel(reason);
                }
                parkIfWaiting(parkAfter);
            } catch (SQLException | RuntimeException later) {
                LOG.debug("{} could not follow a request, will try again", this, later);
            } finally {
                attended.set(false);
            }
        });
    }

    private void cancel(String reason) {
        if (cancelReason == null) {
            cancelReason = reason;
            FlowRun<?> started = run;
            if (started != null) {
                started.cancel(reason);
            }
        }
    }

    /** Delivers signals because something is decided that depends on them. If that fails, the next look does it. */
    private void deliverSent() {
        try {
            deliver();
        } catch (SQLException | RuntimeException later) {
            LOG.debug("{} could not look for signals", this, later);
        }
    }

    /** Delivers signals that were not delivered yet. The run ignores those that its journal has recorded. */
    private void deliver() throws SQLException {
        FlowRun<?> started = run;
        if (started == null) {
            return;
        }
        delivering.lock();
        try {
            deliverNew(started);
        } finally {
            delivering.unlock();
        }
    }

    private void deliverNew(FlowRun<?> started) throws SQLException {
        if (mayHaveOldSignals) {
            runs.forgetSignals(id());
            mayHaveOldSignals = false;
        }
        for (Map.Entry<String, byte @Nullable []> sent : runs.signals(id()).entrySet()) {
            if (!delivered.contains(sent.getKey())) {
                deliver(started, sent.getKey(), sent.getValue());
            }
        }
    }

    private void deliver(FlowRun<?> started, String node, byte @Nullable [] value) throws SQLException {
        try {
            started.signal(node, registration.values().decode(value));
            delivered.add(node);
        } catch (IOException | IllegalArgumentException cannot) {
            String problem = "the signal for node \"" + node + "\" was refused: " + textOf(cannot);
            LOG.warn("{}: {}", this, problem);
            runs.refuse(id(), epoch(), node, problem);
        } catch (IllegalStateException later) {
            LOG.debug("{} could not record a signal", this, later);
        }
    }

    /**
     * Ends the run here if it only waits and nothing was recorded for a time. The same thread delivers signals, so none
     * arrives meanwhile.
     */
    private void parkIfWaiting(Duration after) {
        FlowRun<?> started = run;
        if (started == null || !mayPark(after)) {
            return;
        }
        CompletableFuture<End.@Nullable Parked> decision = new CompletableFuture<>();
        parking = decision;
        End.Parked parked = null;
        try {
            parked = started.abandonIfWaiting("it only waits", after)
                    .map(wait -> new End.Parked(wait, Set.copyOf(delivered)))
                    .orElse(null);
        } finally {
            decision.complete(parked);
        }
    }

    private boolean mayPark(Duration after) {
        return run != null && !journal.isLost() && journal.isQuietFor(after);
    }

    /** Ends the run here, because another worker has it. Its listeners are notified in another thread. */
    void loseLater(String reason) {
        if (!journal.isLost()) {
            journal.giveUp(reason, false);
            Thread.startVirtualThread(() -> lose(reason, false));
        }
    }

    /** Ends the run here; another worker, or this one later, continues it. */
    void lose(String reason, boolean isStillClaimed) {
        journal.giveUp(reason, isStillClaimed);
        FlowRun<?> started = run;
        if (started != null) {
            started.abandon(reason);
        }
    }

    int losses() {
        return claim.losses();
    }

    long epoch() {
        return claim.epoch();
    }

    Execution execution() {
        return new Execution(claim.id(), registration.flow(), registration.version());
    }

    @Override
    public String toString() {
        return "run \"" + claim.id() + "\", epoch " + claim.epoch();
    }
}
