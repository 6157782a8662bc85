package dev.raddle.flow;

import dev.raddle.kernel.Attempts;
import dev.raddle.kernel.InterruptWindow;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The compensation of one node, with all its attempts, in the calling thread. */
final class UndoCall extends InterruptWindow {

    /*
     * Overview.
     *
     * An attempt calls the function and then records that the node is compensated. If a timeout passes during the
     * function, its thread is interrupted, and the compensation has failed whatever the function does then. Once the
     * function has returned in time, the window is closed, and the record is not interrupted. The loss of the run ends
     * the delay between two attempts, but not the function.
     */

    private final RunFacts run;
    private final int node;
    private final @Nullable Object value;
    private final Compensation how;
    private final Thread thread = Thread.currentThread();
    private final @Nullable Deadline until;
    private final NodeContext<?> context;
    private final Attempts<Boolean> attempts;
    private volatile boolean isLate;

    UndoCall(RunFacts run, int node, @Nullable Object value) {
        this.run = run;
        this.node = node;
        this.value = value;
        how = Objects.requireNonNull(run.graph.optionsOf(node).compensation);
        Duration timeout = how.timeout();
        until = timeout == null ? null : Deadline.after(run.time, timeout);
        context = new RunNodeContext(run, node, () -> until == null ? RunNodeContext.FOREVER : until.remaining());
        attempts = new Attempts<>(
                this::attempt,
                how.retry(),
                () -> isLate || run.isLost(),
                run.time,
                taskOf(run, node),
                until == null || timeout == null ? null : new TimeLimit(until, timeout, null),
                run::decide);
        if (run.journal != null) {
            int failed = run.journal.failedUndos(node);
            attempts.continueAfter(failed < how.retry().maxAttempts() ? failed : 0, this::endFailedAttempt);
        }
        closeWindow(); // until the first attempt
    }

    /** Undoes the node. Throws the failure of the last attempt. */
    void run() throws Exception {
        Alarm alarm = until == null ? null : until.alarm(() -> run.decide(this::timeOut));
        try {
            attempts.call();
        } catch (Exception | Error failure) {
            TaskTimeoutException late = isLate ? late(failure) : null;
            RunJournal journal = run.outermostJournal();
            if (journal != null && !run.isLost()) {
                recordEnd(journal, late == null ? failure : late);
            }
            if (late != null) {
                throw late;
            }
            throw failure;
        } finally {
            if (alarm != null) {
                run.guard("alarm for the timeout of the compensation", node, alarm::cancel);
            }
            if (run.journal != null) {
                run.journal.endUndo(node);
            }
        }
    }

    private Boolean attempt(Attempts<?> all) throws Exception {
        Thread.interrupted(); // another compensation or attempt may have left an interrupt
        if (run.journal != null) {
            run.journal.beginUndo(context);
        }
        openWindow();
        boolean isInTime;
        try {
            if (!isLate) {
                all.callOnce(() -> {
                    how.call(run, context, value);
                    return true;
                });
            }
        } finally {
            isInTime = closeWindow();
            if (!isInTime) {
                Thread.interrupted();
            }
        }
        if (!isInTime || isLate) {
            throw late(null);
        }
        if (run.journal != null) {
            run.journal.compensated(node);
        }
        return true;
    }

    private void endFailedAttempt(Exception failure) throws Exception {
        RunJournal journal = Objects.requireNonNull(run.journal);
        journal.undoAttemptFailed(node, attempts.current(), failure, false);
        journal.endUndo(node);
    }

    /** Records that the compensation has failed for good. The next run calls it again. */
    private void recordEnd(RunJournal journal, Throwable failure) {
        journal.setIncomplete();
        try {
            recordValues(journal, run, node);
        } catch (Throwable unrecorded) {
            UserCode.addSuppressed(failure, unrecorded); // the next run cannot undo this node
        }
        try {
            journal.record(new Entry.CompensationAttemptFailed(
                    run.path(node), attempts.current(), RecordedFailure.of(failure), true));
        } catch (Throwable unrecorded) {
            UserCode.addSuppressed(failure, unrecorded);
        }
    }

    /** Records the values that a compensation of a nested run can read: its nodes are not recorded otherwise. */
    private static void recordValues(RunJournal journal, RunFacts nested, int node) throws Exception {
        if (nested.outer == null) {
            return; // these are recorded
        }
        recordValues(journal, nested.outer, nested.outerNode);
        BitSet read = nested.graph.ancestorsOf(node);
        read.set(node);
        String path = nested.outer.path(nested.outerNode);
        for (int each = read.nextSetBit(0); each >= 0; each = read.nextSetBit(each + 1)) {
            if (nested.states.via(each) != ValueSource.NONE) {
                journal.record(new Entry.ElementEnded(path, each, nested.states.value(each)));
            }
        }
    }

    private TaskTimeoutException late(@Nullable Throwable cause) {
        return cause instanceof TaskTimeoutException already
                ? already
                : late(run, node, Objects.requireNonNull(how.timeout()), attempts.current(), cause);
    }

    static TaskTimeoutException late(RunFacts run, int node, Duration timeout, int attempt, @Nullable Throwable cause) {
        String id = run.graph.ids[node];
        String text = "the compensation of node \"" + id + "\" of flow \"" + run.graph.name
                + "\" ran out of time after " + TimeLimit.text(timeout) + " (its timeout)";
        return new TaskTimeoutException(text, id, timeout, attempt, cause);
    }

    /** Returns the name of the compensation of a node, for messages. */
    static String taskOf(RunFacts run, int node) {
        return "compensation of " + run.graph.ids[node];
    }

    private void timeOut() {
        isLate = true;
        interrupt(thread, true, failure -> run.report("interrupt() of the compensation", node, failure));
        attempts.endDelay();
    }

    /** Ends the delay between two attempts, because the run is lost. */
    void endDelay() {
        attempts.endDelay();
    }
}
