package dev.raddle.cli.graph;

import dev.raddle.cli.graph.PlanGraph.Edge;

/** Writes a graph as a Mermaid flowchart. */
final class MermaidText {
    private MermaidText() {}

    static String of(PlanGraph graph) {
        StringBuilder text = new StringBuilder("flowchart LR\n");
        for (int i = 0; i < graph.size(); i++) {
            text.append("    n")
                    .append(i)
                    .append("[\"")
                    .append(label(graph.task(i).id()))
                    .append("\"]\n");
        }
        for (Edge edge : graph.edges()) {
            text.append("    n").append(edge.from());
            text.append(edge.isMust() ? " --> " : " -. " + edge.label() + " .-> ");
            text.append('n').append(edge.to()).append('\n');
        }
        return text.toString();
    }

    /** Escapes characters that are special in Mermaid as their numbers, between # and ;. */
    private static String label(String id) {
        StringBuilder label = new StringBuilder();
        id.codePoints().forEach(c -> {
            if (Character.isLetterOrDigit(c) || " -_./:".indexOf(c) >= 0) {
                label.appendCodePoint(c);
            } else {
                label.append('#').append(c).append(';');
            }
        });
        return label.toString();
    }
}
