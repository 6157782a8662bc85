package dev.raddle.cli.graph;

import java.util.Locale;

/** How a graph is written. */
public enum GraphFormat {
    /** A flowchart for Mermaid. */
    MERMAID {
        @Override
        public String write(PlanGraph graph) {
            return MermaidText.of(graph);
        }
    },
    /** For Graphviz. */
    DOT {
        @Override
        public String write(PlanGraph graph) {
            return DotText.of(graph);
        }
    },
    /** A picture that needs nothing else. */
    SVG {
        @Override
        public String write(PlanGraph graph) {
            return new SvgPicture(graph).write();
        }
    },
    /** For a terminal: the tasks by layer, each with its needs. */
    TEXT {
        @Override
        public String write(PlanGraph graph) {
            return LayerText.of(graph);
        }
    };

    /** Writes a graph, with a line break at the end. */
    public abstract String write(PlanGraph graph);

    /** The word of the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
