package dev.raddle.flow;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes plans and runs in the formats of Mermaid, Graphviz, JSON and Chrome traces. */
final class Drawing {

    private Drawing() {}

    static String mermaid(List<PlanNode> nodes, @Nullable FlowResult<?> run) {
        Map<String, String> names = new HashMap<>();
        StringBuilder text = new StringBuilder("flowchart LR\n");
        for (PlanNode node : nodes) {
            String name = "n" + names.size();
            names.put(node.id(), name);
            String state = run == null ? "" : "<br/>" + run.node(node.id()).state();
            text.append("    " + name + "[\"" + escapedForMermaid(node.id()) + state + "\"]\n");
        }
        for (PlanNode node : nodes) {
            for (PlanEdge edge : node.upstreams()) {
                String arrow = isPlain(edge) ? " --> " : " -. " + edge.kind() + " .-> ";
                text.append("    " + names.get(edge.from()) + arrow + names.get(edge.to()) + "\n");
            }
        }
        return text.toString();
    }

    private static boolean isPlain(PlanEdge edge) {
        return edge.kind().equals("must");
    }

    private static String escapedForMermaid(String text) {
        return text.replace("&", "&amp;")
                .replace("\"", "&quot;")
                .replace("<", "&lt;")
                .replace(">", "&gt;");
    }

    static String dot(String name, List<PlanNode> nodes, @Nullable FlowResult<?> run) {
        StringBuilder text =
                new StringBuilder("digraph " + quoted(name) + " {\n    rankdir=LR;\n    node [shape=box];\n");
        for (PlanNode node : nodes) {
            String label = run == null
                    ? ""
                    : quoted(node.id() + "\n" + run.node(node.id()).state());
            text.append("    " + quoted(node.id()) + (run == null ? "" : " [label=" + label + "]") + ";\n");
        }
        for (PlanNode node : nodes) {
            for (PlanEdge edge : node.upstreams()) {
                String style = isPlain(edge) ? "" : " [style=dashed, label=" + quoted(edge.kind()) + "]";
                text.append("    " + quoted(edge.from()) + " -> " + quoted(edge.to()) + style + ";\n");
            }
        }
        return text.append("}\n").toString();
    }

    static String json(String name, List<PlanNode> plan, FlowResult<?> run) {
        List<String> nodes = new ArrayList<>();
        for (PlanNode node : plan) {
            NodeReport<?> report = run.node(node.id());
            Throwable cause = report.cause();
            nodes.add("\n{\"id\":" + quoted(node.id()) + ",\"state\":"
                    + quoted(report.state().name())
                    + ",\"via\":" + quoted(report.via().name())
                    + (cause == null ? "" : ",\"cause\":" + quoted(cause.toString()))
                    + ",\"startNanos\":" + report.startNanos() + ",\"endNanos\":" + report.endNanos()
                    + ",\"needs\":[" + edges(node) + "]}");
        }
        return "{\"flow\":" + quoted(name) + ",\"status\":"
                + quoted(run.status().name()) + ",\"elapsedNanos\":"
                + run.elapsed().toNanos() + ",\"nodes\":[" + String.join(",", nodes) + "]}\n";
    }

    private static String edges(PlanNode node) {
        List<String> edges = new ArrayList<>();
        for (PlanEdge edge : node.upstreams()) {
            edges.add("{\"id\":" + quoted(edge.from()) + ",\"kind\":" + quoted(edge.kind()) + "}");
        }
        return String.join(",", edges);
    }

    /** Returns a trace in which nodes that ran at the same time are in different rows. */
    static String chromeTrace(String name, List<NodeReport<?>> nodes) {
        List<NodeReport<?>> ran = new ArrayList<>(nodes);
        ran.removeIf(each -> each.startNanos() < 0);
        ran.sort((one, other) -> Long.compare(one.startNanos(), other.startNanos()));
        List<Long> rows = new ArrayList<>();
        List<String> events = new ArrayList<>();
        for (NodeReport<?> node : ran) {
            int row = 0;
            while (row < rows.size() && rows.get(row) > node.startNanos()) {
                row++;
            }
            if (row == rows.size()) {
                rows.add(0L);
            }
            rows.set(row, node.endNanos());
            events.add("{\"name\":" + quoted(node.id()) + ",\"cat\":" + quoted(name) + ",\"ph\":\"X\",\"ts\":"
                    + micros(node.startNanos()) + ",\"dur\":" + micros(node.endNanos() - node.startNanos())
                    + ",\"pid\":1,\"tid\":" + (row + 1) + ",\"args\":{\"state\":"
                    + quoted(node.state().name()) + "}}");
        }
        return "{\"traceEvents\":[\n" + String.join(",\n", events) + "\n]}\n";
    }

    private static String micros(long nanos) {
        return nanos / 1000 + "." + String.valueOf(1000 + nanos % 1000).substring(1);
    }

    /** Returns a quoted text, with the escapes of JSON and DOT. */
    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int position = 0; position < text.length(); position++) {
            char each = text.charAt(position);
            switch (each) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                default -> {
                    if (each < ' ') {
                        quoted.append(String.format("\\u%04x", (int) each));
                    } else {
                        quoted.append(each);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }
}
