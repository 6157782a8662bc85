package dev.raddle.cli.graph;

import java.util.Locale;

/** The format in which a graph is written. */
public enum GraphFormat {
    /** A Mermaid flowchart. */
    MERMAID {
        @Override
        public String write(PlanGraph graph) {
            return MermaidText.of(graph);
        }
    },
    /** The DOT language of Graphviz. */
    DOT {
        @Override
        public String write(PlanGraph graph) {
            return DotText.of(graph);
        }
    },
    /** A picture that needs no other program. */
    SVG {
        @Override
        public String write(PlanGraph graph) {
            return new SvgPicture(graph).write();
        }
    },
    /** Text for a terminal: the tasks by layer, each with its needs. */
    TEXT {
        @Override
        public String write(PlanGraph graph) {
            return LayerText.of(graph);
        }
    };

    /** Returns the text of a graph, with a line break at the end. */
    public abstract String write(PlanGraph graph);

    /** Returns the word on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
