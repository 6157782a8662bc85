package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import picocli.CommandLine.Command;

/** Pauses a schedule of a flow in a database. */
@Command(
        name = "pause-schedule",
        description = "Pauses a schedule for all workers, until it is resumed. Runs that were submitted go on.")
final class FlowsPauseScheduleCommand extends FlowsScheduleRequest {
    @Override
    FlowsAccess.Answer send(FlowsAccess flows, String schedule) throws IOException {
        return flows.pauseSchedule(schedule);
    }
}
