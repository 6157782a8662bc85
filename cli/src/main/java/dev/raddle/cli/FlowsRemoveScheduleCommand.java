package dev.raddle.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Removes a schedule of a flow from a database. */
@Command(
        name = "remove-schedule",
        description = "Removes a schedule that no program has any more. Runs that were submitted go on. A program that"
                + " still has it stores it again when it starts.")
final class FlowsRemoveScheduleCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "NAME", description = "The name of the schedule.")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.removeSchedule(name));
    }
}
