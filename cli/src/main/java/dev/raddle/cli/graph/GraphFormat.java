package dev.raddle.cli.graph;

import java.util.Locale;
import java.util.function.Function;

/** The format in which a graph is written. */
public enum GraphFormat {
    /** A Mermaid flowchart. */
    MERMAID(MermaidText::of),
    /** The DOT language of Graphviz. */
    DOT(DotText::of),
    /** A picture that needs no other program. */
    SVG(graph -> new SvgPicture(graph).write()),
    /** Text for a terminal: the tasks by layer, each with its needs. */
    TEXT(LayerText::of);

    private final Function<PlanGraph, String> writer;

    GraphFormat(Function<PlanGraph, String> writer) {
        this.writer = writer;
    }

    /** Returns the text of a graph, with a line break at the end. */
    public String write(PlanGraph graph) {
        return writer.apply(graph);
    }

    /** Returns the word on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
