package dev.raddle.cli.page;

import dev.raddle.cli.run.Report;
import dev.raddle.cli.run.ReportForm;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;

/**
 * Shows a run in a browser while it goes on. Pages that are open at the end keep its last state: the report. The
 * failures are those of the commands, which their executor does not know.
 */
public final class RunConsole implements RunListener, ReportForm, AutoCloseable {
    private static final String EXECUTOR = "run";

    private record Identity(String owner, String name) implements TaskIdentity {}

    private static final class CommandFailed extends Exception {
        private static final long serialVersionUID = 1;

        CommandFailed(String error) {
            super(error, null, false, false);
        }
    }

    private final Console console;
    private final TaskListener counts;

    /**
     * Opens a port.
     *
     * @param port the port on the loopback address, or 0 for a free one
     * @param title the name of the run
     * @throws java.io.UncheckedIOException if the port is not free
     */
    public RunConsole(int port, String title) {
        console = Console.start(ConsoleOptions.defaults().withPort(port).withTitle(title));
        counts = console.listener(EXECUTOR);
    }

    /** Shows a run, and returns the address of its page. Called once. */
    public String show(PlanRun run) {
        console.watch(run);
        return console.uri() + "#/flow?id=r1";
    }

    /** Shows the groups of the run. */
    public void watch(GroupExecutor executor) {
        console.watch(EXECUTOR, executor);
    }

    @Override
    public void on(RunEvent event) {
        switch (event) {
            case RunEvent.AttemptStarted started
            when started.attempt() == 1 -> counts.onStarted(new Identity(started.group(), started.id()), 0);
            case RunEvent.TaskEnded ended -> count(ended.result());
            default -> {} // counts nothing
        }
    }

    private void count(TaskResult result) {
        String error = String.valueOf(result.error());
        Outcome<?> outcome = switch (result.state()) {
            case FAILED, TIMED_OUT -> new Outcome.Failure<>(new CommandFailed(error));
            case REJECTED -> new Outcome.Rejected<>(Rejection.of(Rejection.Reason.GROUP_QUEUE, error));
            case SUCCEEDED, CANCELLED, SKIPPED -> new Outcome.Success<>(null);
        };
        counts.onSettled(new Identity(result.group(), result.id()), outcome, 0);
    }

    /** Ends the console with the report, while the executor still has the groups that are shown last. */
    @Override
    public void write(Report report) {
        close();
    }

    /** Lets open pages have the last state, and ends. A second call has no effect. */
    @Override
    public void close() {
        console.close();
    }
}
