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
 * Names those for whom a closing scope waits, again and again, until they have ended. The alarm only starts a thread that
 * looks: a stack takes time to read, and the sink is foreign.
 */
final class Stragglers {

    /** Somebody who has not ended: what it is called, since when it runs, and where. */
    record Straggler(String name, long sinceNanos, @Nullable Thread thread) {}

    /** Carries the stack of a straggler's thread to the sink. */
    static final class StillRunningException extends RuntimeException {
        private static final long serialVersionUID = 1;

        StillRunningException(String message, @Nullable Thread thread) {
            super(message, null, false, true);
            setStackTrace(thread == null ? new StackTraceElement[0] : thread.getStackTrace());
        }
    }

    private final String scope;
    private final TimeSource time;
    private final Duration patience;
    private final ExceptionSink sink;
    private final OffloadExecutor elsewhere;
    private final Supplier<List<Straggler>> who;
    private boolean over; // guarded by this
    private @Nullable Alarm alarm; // guarded by this

    Stragglers(String scope, TimeSource time, Duration patience, ExceptionSink sink, Supplier<List<Straggler>> who) {
        this.scope = scope;
        this.time = time;
        this.patience = patience;
        this.sink = sink;
        this.elsewhere = new OffloadExecutor(sink);
        this.who = who;
    }

    /** Begins to watch. */
    synchronized void watch() {
        if (!over) {
            try {
                alarm = time.after(patience, () -> elsewhere.execute(this::look));
            } catch (Throwable noAlarm) {
                sink.report("time source of scope \"" + scope + "\", which reports no stragglers", noAlarm);
            }
        }
    }

    private void look() {
        long now = time.nanoTime();
        for (Straggler straggler : who.get()) {
            String task = "task \"" + straggler.name() + "\"";
            sink.report(
                    "close() of scope \"" + scope + "\", which waits for " + task,
                    new StillRunningException(
                            task + " ignores its interrupt; it has run for "
                                    + TimeLimit.text(Duration.ofNanos(now - straggler.sinceNanos()))
                                    + (straggler.thread() == null ? "" : " in " + UserCode.textOf(straggler.thread())),
                            straggler.thread()));
        }
        watch();
    }

    /** Stops watching. */
    synchronized void end() {
        over = true;
        if (alarm != null) {
            alarm.cancel();
        }
    }
}
