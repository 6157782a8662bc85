package dev.raddle.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Shows a run of a flow in a database. */
@Command(name = "show", description = "Shows a run and its journal. Values are not shown.")
final class FlowsShowCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(paramLabel = "RUN", description = "The id of the run.")
    private String run = "";

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Also write the run as a page for a browser to this file. An existing file is replaced.")
    private @Nullable Path html;

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.show(run, json, html));
    }
}
