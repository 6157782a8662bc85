package dev.raddle.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Pauses a schedule of a flow in a database. */
@Command(
        name = "pause-schedule",
        description = "Pauses a schedule for all workers, until it is resumed. Runs that were submitted go on.")
final class FlowsPauseScheduleCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "NAME", description = "The name of the schedule.")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.pauseSchedule(name));
    }
}
