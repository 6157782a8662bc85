package dev.raddle.cli;

import dev.raddle.cli.flows.FlowsAccess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists runs of flows in a database. */
@Command(name = "list", description = "Lists runs, the newest first.")
final class FlowsListCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Option(names = "--flow", paramLabel = "NAME", description = "Only runs of this flow.")
    private @Nullable String flow;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            split = ",",
            description = "Only runs in these states: WAITING, WITHOUT_VERSION, RUNNING, SUCCESS, DEGRADED, FAILED,"
                    + " TIMED_OUT, CANCELLED, STUCK.")
    private List<String> states = List.of();

    @Option(names = "--stuck", description = "Only runs that are STUCK, and why; the same as --state stuck.")
    private boolean stuck;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "The greatest number of runs (default: ${DEFAULT-VALUE}).")
    private int limit;

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        List<String> wanted = new ArrayList<>(states);
        if (stuck) {
            wanted.add("STUCK");
        }
        return parent.ask(spec, flows -> new FlowsAccess.Answer(true, flows.list(flow, wanted, limit, json)));
    }
}
