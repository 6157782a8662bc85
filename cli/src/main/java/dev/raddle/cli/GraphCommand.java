package dev.raddle.cli;

import dev.raddle.cli.graph.GraphFormat;
import dev.raddle.cli.graph.PlanGraph;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints the dependencies of a run file. */
@Command(
        name = "graph",
        description = "Prints which tasks of a run file depend on which; runs nothing.",
        footer = {
            "",
            "Examples:",
            "  raddle graph build.yaml",
            "  raddle graph --format svg build.yaml > build.svg",
            "  raddle graph --format dot build.yaml | dot -Tpdf > build.pdf"
        })
final class GraphCommand extends Subcommand {
    @Mixin
    private FileArguments arguments = new FileArguments();

    @Option(
            names = {"-f", "--format"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            completionCandidates = Formats.class,
            converter = Formats.class,
            description = "mermaid, dot, svg or text (default: ${DEFAULT-VALUE}).")
    private GraphFormat format = GraphFormat.TEXT;

    /** The names of the formats. */
    static final class Formats extends Choice<GraphFormat> {
        Formats() {
            super(GraphFormat.class);
        }
    }

    @Override
    public Integer call() {
        return arguments.print(spec, (plan, file) -> format.write(PlanGraph.of(plan)));
    }
}
