package dev.raddle.cli.graph;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.graph.PlanGraph.Edge;
import java.util.Locale;

/** Writes a graph as an SVG. For one thread and one use. */
final class SvgPicture {
    private final PlanGraph graph;
    private final Placement places;

    SvgPicture(PlanGraph graph) {
        this.graph = graph;
        this.places = Placement.of(graph, Layers.of(graph));
    }

    String write() {
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
                        + " font-family=\"monospace\" font-size=\"12\">\n",
                places.width(),
                places.height(),
                places.width(),
                places.height()));
        svg.append("<title>").append(escaped(graph.name())).append("</title>\n");
        svg.append("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\""
                + " markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#667085\"/></marker></defs>\n");
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        svg.append("<g fill=\"none\" stroke=\"#667085\">\n");
        graph.edges().forEach(edge -> edge(edge, svg));
        svg.append("</g>\n<g>\n");
        for (int task = 0; task < graph.size(); task++) {
            task(task, svg);
        }
        return svg.append("</g>\n</svg>\n").toString();
    }

    private void edge(Edge edge, StringBuilder svg) {
        double x1 = places.left(edge.from()) + places.width(edge.from());
        double y1 = places.middle(edge.from());
        double x2 = places.left(edge.to());
        double y2 = places.middle(edge.to());
        double bend = Placement.GAP / 2.0;
        svg.append(String.format(
                Locale.ROOT,
                "<path marker-end=\"url(#tip)\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"%s>"
                        + "<title>%s</title></path>\n",
                x1,
                y1,
                x1 + bend,
                y1,
                x2 - bend,
                y2,
                x2,
                y2,
                edge.isMust() ? "" : " stroke-dasharray=\"5 3\"",
                escaped(graph.task(edge.from()).id() + " → "
                        + graph.task(edge.to()).id() + " (" + edge.label() + ")")));
    }

    private void task(int task, StringBuilder svg) {
        svg.append(String.format(
                Locale.ROOT,
                "<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"5\" fill=\"#eef2f6\""
                        + " stroke=\"#475467\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\""
                        + " fill=\"#101828\">%s</text></g>\n",
                escaped(graph.task(task).id() + " [" + graph.task(task).group() + "]"),
                places.left(task),
                places.middle(task) - Placement.BOX_HEIGHT / 2.0,
                places.width(task),
                Placement.BOX_HEIGHT,
                places.left(task) + places.width(task) / 2,
                places.middle(task) + 4,
                escaped(places.label(task))));
    }

    private static String escaped(String text) {
        return Printable.oneLine(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
