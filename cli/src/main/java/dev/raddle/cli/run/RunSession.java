package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.group.GroupExecutor;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A run from its first event to its exit code. For one thread and one use. */
public final class RunSession {
    private final Settings settings;
    private final List<RunListener> displays;
    private final List<ReportForm> forms;
    private final RunScreen screen;
    private final InstantSource clock;
    private final Stop stop;
    private final Tally tally = new Tally();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /**
     * The settings of a run.
     *
     * @param grace the time that processes have to end after SIGTERM; in a drain, also the time before that in which
     *     they may end by themselves
     * @param halt when tasks that have ended end the run, or null if they never do
     * @param watcher receives the executor of the tasks before the first one; or null
     */
    public record Settings(
            Duration grace, @Nullable Halt halt, @Nullable Consumer<GroupExecutor> watcher) {

        /** Creates settings without a watcher. */
        public Settings(Duration grace, @Nullable Halt halt) {
            this(grace, halt, null);
        }
    }

    /**
     * Creates a session.
     *
     * @param displays the listeners that are called after the work's own; a failure of one of them closes the output
     * @param forms the forms of the report besides JSON
     * @param screen the display that signals concern
     */
    public RunSession(
            Settings settings,
            List<? extends RunListener> displays,
            List<? extends ReportForm> forms,
            RunScreen screen,
            InstantSource clock) {
        this.settings = settings;
        this.displays = List.copyOf(displays);
        this.forms = List.copyOf(forms);
        this.screen = screen;
        this.clock = clock;
        this.stop = new Stop(settings.grace());
    }

    /**
     * Runs the work to its end, successful or not.
     *
     * @return the exit code, for {@link ExitCode#exit}
     * @throws IOException if raddle itself could not continue
     */
    public int run(Work work) throws IOException, InterruptedException {
        try {
            return runToEnd(work);
        } catch (RuntimeException | Error e) {
            if (work.secrets().isEmpty()) {
                throw e;
            }
            throw new IOException(work.secrets().mask(Failure.text(e)), e); // without a stack, which may have some
        }
    }

    private int runToEnd(Work work) throws IOException, InterruptedException {
        List<RunListener> listeners = new ArrayList<>(work.listeners());
        listeners.add(tally);
        listeners.addAll(displays);
        Instant startedAt = clock.instant();
        long start = System.nanoTime();
        int exitCode;
        int deadly;
        Threads.startTimers();
        try (EventLoop events = new EventLoop(listeners, this::failed)
                        .hiding(work.secrets())
                        .start();
                Threads threads = new Threads(settings.grace(), TimeSource.system());
                GroupRunner runner = new GroupRunner(
                        work.limits(),
                        threads,
                        events,
                        stop,
                        clock,
                        settings,
                        ProcessStarter.of(work.key()).hiding(work.secrets()),
                        work.recordsProcesses())) {
            stop.onRequest(reason -> events.postLater(new RunEvent.RunStopping(clock.instant(), reason)));
            stop.onDrain(threads::drain, threads::endGrace);
            Duration timeout = work.timeout();
            Alarm alarm = timeout == null
                    ? () -> true
                    : TimeSource.system().after(timeout, () -> stop.request(Stop.Reason.TIMED_OUT));
            // Handled until the report is written: a signal that comes again must not prevent it.
            try (SignalHandlers signals = new SignalHandlers(stop, screen, events)) {
                RunEvent.RunStarted begin;
                try {
                    work.prepare(tally, settings.grace());
                    begin = work.begin(startedAt);
                    events.post(begin);
                    execute(work, runner);
                    events.flush();
                } finally {
                    alarm.cancel();
                }
                Summary summary = tally.summary(Duration.ofNanos(System.nanoTime() - start));
                exitCode = ExitCode.of(summary.totals(), stop, runner.isDegraded());
                if (stop.isDrained()) {
                    summary = summary.with(runner.account());
                }
                deadly = exitCode == ExitCode.INTERRUPTED ? signals.deadly() : 0;
                exitCode = deadly == 0 ? exitCode : AttemptEnd.BY_SIGNAL + deadly;
                Path written = report(work, begin, summary, exitCode);
                exitCode = failure.get() == null ? exitCode : ExitCode.BROKEN;
                events.post(new RunEvent.RunEnded(clock.instant(), summary, exitCode, written));
                events.flush();
            }
        }
        Throwable broken = failure.get();
        if (broken != null) {
            throw new IOException(work.secrets().mask(Failure.text(broken)), broken);
        }
        return deadly == 0 ? exitCode : ExitCode.diesOf(deadly);
    }

    private void execute(Work work, GroupRunner runner) throws InterruptedException {
        try {
            work.submit(runner, stop);
        } catch (IOException e) {
            fail(e);
        }
        runner.awaitAll();
    }

    /** Writes all reports, and returns the path of the one in the run directory, or null if there is none. */
    private @Nullable Path report(Work work, RunEvent.RunStarted begin, Summary summary, int exitCode) {
        Path directory = work.directory();
        Path written = null;
        Report report = new Report(
                begin.name(),
                work.directory(),
                begin.time(),
                clock.instant(),
                exitCode,
                begin.succeededBefore(),
                summary,
                work.limits()::limit,
                outputs(work),
                work.undone(),
                work.results());
        for (Path path : work.reports()) {
            try {
                report.write(path);
                written = directory != null && path.startsWith(directory) && written == null ? path : written;
            } catch (IOException e) {
                fail(new IOException("the report " + path + " cannot be written: " + Failure.text(e), e));
            }
        }
        for (ReportForm form : forms) {
            try {
                form.write(report);
            } catch (IOException e) {
                fail(new IOException("the report cannot be written: " + Failure.text(e), e));
            }
        }
        return written;
    }

    private Map<String, @Nullable String> outputs(Work work) {
        try {
            return work.outputs();
        } catch (IOException e) {
            fail(new IOException("the output of the tasks in results cannot be read: " + Failure.text(e), e));
            return Map.of();
        }
    }

    private void failed(RunListener listener, Throwable e) {
        if (displays.contains(listener) && e instanceof OutputClosedException) {
            stop.request(Stop.Reason.OUTPUT_CLOSED);
        } else {
            fail(e);
        }
    }

    private void fail(Throwable e) {
        failure.compareAndSet(null, Objects.requireNonNull(e));
        stop.request(Stop.Reason.BROKEN);
    }
}
