package dev.raddle.cli.graph;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.graph.PlanGraph.Edge;

/** Writes a graph for Graphviz. */
final class DotText {
    private DotText() {}

    static String of(PlanGraph graph) {
        StringBuilder text =
                new StringBuilder("digraph ").append(quoted(graph.name())).append(" {\n");
        text.append("    rankdir=LR;\n    node [shape=box, style=rounded];\n");
        for (int i = 0; i < graph.size(); i++) {
            text.append("    ").append(quoted(graph.task(i).id())).append(";\n");
        }
        for (Edge edge : graph.edges()) {
            text.append("    ").append(quoted(graph.task(edge.from()).id()));
            text.append(" -> ").append(quoted(graph.task(edge.to()).id()));
            text.append(edge.isMust() ? "" : " [style=dashed, label=" + quoted(edge.label()) + "]")
                    .append(";\n");
        }
        return text.append("}\n").toString();
    }

    private static String quoted(String text) {
        return "\"" + Printable.oneLine(text).replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
