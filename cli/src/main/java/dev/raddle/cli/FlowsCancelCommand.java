package dev.raddle.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Cancels a run of a flow in a database. */
@Command(
        name = "cancel",
        description = "Requests that a run is cancelled. Its worker cancels its nodes, and compensates them.")
final class FlowsCancelCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "RUN", description = "The id of the run.")
    private String run = "";

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            defaultValue = "cancelled by raddle flows",
            description = "The reason, for messages (default: ${DEFAULT-VALUE}).")
    private String reason = "";

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.cancel(run, reason));
    }
}
