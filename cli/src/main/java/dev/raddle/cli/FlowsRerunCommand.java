package dev.raddle.cli;

import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Runs nodes of a run in a database again. */
@Command(
        name = "rerun",
        description = "Runs nodes of a run that has ended again, all that depend on them, and all without success. The"
                + " others keep their values.")
final class FlowsRerunCommand extends Subcommand {
    @ParentCommand
    private FlowsCommand parent = new FlowsCommand(); // set by picocli

    @Parameters(index = "0", paramLabel = "RUN", description = "The id of the run.")
    private String run = "";

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "NODE",
            description = "The ids of the nodes; none for those without success.")
    private List<String> nodes = List.of();

    @Override
    public Integer call() throws IOException {
        return parent.ask(spec, flows -> flows.rerun(run, List.copyOf(nodes)));
    }
}
