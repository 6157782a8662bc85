package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** A subcommand that makes a request about one schedule. */
abstract class FlowsScheduleRequest extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "NAME", description = "The name of the schedule.")
    private String name = "";

    /** Makes the request. */
    abstract FlowsAccess.Answer send(FlowsAccess flows, String schedule) throws IOException;

    @Override
    public final Integer call() throws IOException {
        return parent.ask(spec, flows -> send(flows, name));
    }
}
