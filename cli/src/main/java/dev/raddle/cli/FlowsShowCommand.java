package dev.raddle.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Shows a run of a flow in a database. */
@Command(
        name = "show",
        description = "Shows a run and its journal. Values are not shown.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
final class FlowsShowCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

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

    FlowsShowCommand() {}

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.show(run, json, html));
    }
}
