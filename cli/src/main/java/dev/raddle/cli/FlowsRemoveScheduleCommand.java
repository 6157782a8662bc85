package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import picocli.CommandLine.Command;

/** Removes a schedule of a flow from a database. */
@Command(
        name = "remove-schedule",
        description = "Removes a schedule that no program has any more. Runs that were submitted go on. A program that"
                + " still has it stores it again when it starts.")
final class FlowsRemoveScheduleCommand extends FlowsScheduleRequest {
    @Override
    FlowsAccess.Answer send(FlowsAccess flows, String schedule) throws IOException {
        return flows.removeSchedule(schedule);
    }
}
