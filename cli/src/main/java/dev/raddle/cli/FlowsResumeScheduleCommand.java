package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import picocli.CommandLine.Command;

/** Resumes a schedule of a flow in a database. */
@Command(
        name = "resume-schedule",
        description = "Resumes a schedule that is paused: its next round is that of the first moment from now.")
final class FlowsResumeScheduleCommand extends FlowsScheduleRequest {
    @Override
    FlowsAccess.Answer send(FlowsAccess flows, String schedule) throws IOException {
        return flows.resumeSchedule(schedule);
    }
}
