package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.ExceptionSink;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Periodically reports the tasks that a closing scope waits for, until they have ended. The reports are made
 * outside the alarm's action, because a stack trace takes time and the sink is user code.
 */
final class StragglerReporter {

    /** Reports a straggler to the sink, with the stack trace of its thread. */
    static final class StillRunningException extends RuntimeException {
        private static final long serialVersionUID = 1;

        StillRunningException(String message, StackTraceElement[] stack) {
            super(message, null, false, true);
            setStackTrace(stack);
        }
    }

    private final String scope;
    private final TimeSource time;
    private final Duration patience;
    private final ExceptionSink sink;
    private final OffloadExecutor elsewhere;
    private final Supplier<List<ScopeRun<?>>> running;
    private boolean over; // guarded by this
    private int reports; // the number of reports begun; guarded by this
    private @Nullable Alarm alarm; // of the next report; guarded by this

    StragglerReporter(
            String scope, TimeSource time, Duration patience, ExceptionSink sink, Supplier<List<ScopeRun<?>>> running) {
        this.scope = scope;
        this.time = time;
        this.patience = patience;
        this.sink = sink;
        this.elsewhere = new OffloadExecutor(sink, time);
        this.running = running;
    }

    /**
     * Arms the alarm of the next report. That report may begin, and arm the alarm of its successor, before this ends.
     */
    void arm() {
        int before;
        synchronized (this) {
            if (over) {
                return;
            }
            before = reports;
        }
        Alarm armed;
        try {
            armed = time.after(patience, () -> elsewhere.execute(this::report));
        } catch (Throwable noAlarm) {
            sink.report("time source of scope \"" + scope + "\", whose stragglers are not reported", noAlarm);
            return;
        }
        boolean late;
        synchronized (this) {
            late = over;
            if (reports == before) {
                alarm = armed;
            }
        }
        if (late) {
            armed.cancel();
        }
    }

    private void report() {
        synchronized (this) {
            if (over) {
                return;
            }
            reports++;
        }
        for (ScopeRun<?> straggler : running.get()) {
            report(straggler);
        }
        arm();
    }

    /** Reports a run unless it has ended before its stack was read: the stack may be that of another task then. */
    private void report(ScopeRun<?> straggler) {
        Thread thread = straggler.lastRunner();
        StackTraceElement[] stack = thread == null ? new StackTraceElement[0] : thread.getStackTrace();
        if (straggler.lastRunner() != thread) {
            return;
        }
        String task = "task \"" + straggler.name() + "\"";
        sink.report(
                "close() of scope \"" + scope + "\", which waits for " + task,
                new StillRunningException(
                        task + " ignores its interrupt; it has run for "
                                + TimeLimit.text(Duration.ofNanos(time.nanoTime() - straggler.begunNanos()))
                                + (thread == null ? "" : " in " + UserCode.textOf(thread)),
                        stack));
    }

    /** Ends the reports. */
    void end() {
        Alarm pending;
        synchronized (this) {
            over = true;
            pending = alarm;
        }
        if (pending != null) {
            pending.cancel();
        }
    }
}
