package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists schedules of flows in a database. */
@Command(name = "schedules", description = "Lists schedules, the next round first.")
final class FlowsSchedulesCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> new FlowsAccess.Answer(true, flows.schedules(json)));
    }
}
