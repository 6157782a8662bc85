package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import dev.raddle.cli.run.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Looks at runs of flows in a database. */
@Command(
        name = "flows",
        description = "Shows runs of flows in a database, cancels them and runs them again. Lists, pauses,"
                + " resumes and removes schedules.",
        subcommands = {
            FlowsListCommand.class,
            FlowsShowCommand.class,
            FlowsCancelCommand.class,
            FlowsRerunCommand.class,
            FlowsSchedulesCommand.class,
            FlowsPauseScheduleCommand.class,
            FlowsResumeScheduleCommand.class,
            FlowsRemoveScheduleCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  raddle flows list --state FAILED --db postgresql://ops@localhost/shop",
            "  RADDLE_DB=postgresql://ops:password@db.internal/shop raddle flows show order-17",
            "  raddle flows cancel order-17 --reason \"ordered twice\"",
            "  raddle flows rerun order-17 invoice",
            "  raddle flows pause-schedule nightly",
            "",
            "The exit code is 0; 1 if there is no such run or schedule, or if the run has ended, or for rerun if it has"
                    + " not; 2 if the arguments are invalid; or 70 if the database cannot be used."
        })
final class FlowsCommand extends Subcommand {
    @Mixin
    private FlowsServerOptions server = new FlowsServerOptions();

    /** A request to the database. */
    interface Request {
        FlowsAccess.Answer send(FlowsAccess flows) throws IOException;
    }

    @Override
    public Integer call() {
        throw wrong("Name a command: list, show, cancel, rerun, schedules, pause-schedule, resume-schedule"
                + " or remove-schedule");
    }

    /** Sends a request of a subcommand, prints the answer, and returns the exit code. */
    int ask(CommandSpec subcommand, Request request) throws IOException {
        try (FlowsAccess flows = server.open(subcommand)) {
            FlowsAccess.Answer answer = request.send(flows);
            PrintWriter out = answer.isDone()
                    ? subcommand.commandLine().getOut()
                    : subcommand.commandLine().getErr();
            out.print((answer.isDone() ? "" : "raddle: ") + answer.text());
            out.flush();
            return answer.isDone() ? ExitCode.OK : ExitCode.FAILED;
        } catch (IllegalArgumentException e) { // such as an id that is too long
            throw new ParameterException(subcommand.commandLine(), String.valueOf(e.getMessage()));
        }
    }
}
