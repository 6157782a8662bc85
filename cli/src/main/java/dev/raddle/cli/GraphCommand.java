package dev.raddle.cli;

import dev.raddle.cli.graph.GraphFormat;
import dev.raddle.cli.graph.PlanGraph;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Prints the dependencies of a run file. */
@Command(
        name = "graph",
        description = "Prints which tasks of a run file depend on which; runs nothing.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "Examples:",
            "  raddle graph build.yaml",
            "  raddle graph --format svg build.yaml > build.svg",
            "  raddle graph --format dot build.yaml | dot -Tpdf > build.pdf"
        })
final class GraphCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    @Mixin
    private FileArguments arguments = new FileArguments();

    @Option(
            names = {"-f", "--format"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            completionCandidates = Names.class,
            converter = FormatConverter.class,
            description = "mermaid, dot, svg or text (default: ${DEFAULT-VALUE}).")
    private GraphFormat format = GraphFormat.TEXT;

    /** The names of the formats. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(GraphFormat.values())
                    .map(GraphFormat::toString)
                    .iterator();
        }
    }

    /** Parses the name of a format. */
    static final class FormatConverter implements ITypeConverter<GraphFormat> {
        @Override
        public GraphFormat convert(String text) {
            return Arrays.stream(GraphFormat.values())
                    .filter(format -> format.toString().equals(text))
                    .findFirst()
                    .orElseThrow(() ->
                            new TypeConversionException("must be mermaid, dot, svg or text, was \"" + text + "\""));
        }
    }

    GraphCommand() {}

    @Override
    public Integer call() {
        return arguments.print(spec, (plan, file) -> format.write(PlanGraph.of(plan)));
    }
}
