package dev.raddle.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Resumes a schedule of a flow in a database. */
@Command(
        name = "resume-schedule",
        description = "Resumes a schedule that is paused: its next round is that of the first moment from now.")
final class FlowsResumeScheduleCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "NAME", description = "The name of the schedule.")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.resumeSchedule(name));
    }
}
