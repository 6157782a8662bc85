package dev.raddle.cli.graph;

import dev.raddle.cli.file.Printable;
import dev.raddle.cli.graph.PlanGraph.Edge;
import java.util.List;
import java.util.Locale;

/** Draws a graph from left to right, a column for each layer. For one thread, and once. */
final class SvgPicture {
    private static final int MARGIN = 20;
    private static final int HEIGHT = 26;
    private static final int ROW = 38;
    private static final int GAP = 90;
    private static final int LONGEST_LABEL = 32;
    private static final double LETTER = 7.3; // of the monospaced font at 12 px
    private static final int LEAST_WIDTH = 48;

    private final PlanGraph graph;
    private final Layers layers;
    private final double[] left;
    private final double[] width;
    private final double[] middle; // of each task, from the top
    private double right;
    private double bottom;

    SvgPicture(PlanGraph graph) {
        this.graph = graph;
        this.layers = Layers.of(graph);
        this.left = new double[layers.all().size()];
        this.width = new double[layers.all().size()];
        this.middle = new double[graph.size()];
    }

    String write() {
        place();
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
                        + " font-family=\"monospace\" font-size=\"12\">%n",
                right,
                bottom,
                right,
                bottom));
        svg.append("<title>").append(escaped(graph.name())).append("</title>\n");
        svg.append("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\""
                + " markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#667085\"/></marker></defs>\n");
        svg.append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
        svg.append("<g fill=\"none\" stroke=\"#667085\" marker-end=\"url(#tip)\">\n");
        graph.edges().forEach(edge -> edge(edge, svg));
        svg.append("</g>\n<g>\n");
        for (int task = 0; task < graph.size(); task++) {
            task(task, svg);
        }
        return svg.append("</g>\n</svg>\n").toString();
    }

    private void place() {
        List<List<Integer>> all = layers.all();
        int tallest = all.stream().mapToInt(List::size).max().orElse(0);
        bottom = 2 * MARGIN + (double) tallest * ROW;
        double x = MARGIN;
        for (int i = 0; i < all.size(); i++) {
            List<Integer> layer = all.get(i);
            int letters =
                    layer.stream().mapToInt(task -> label(task).length()).max().orElse(0);
            left[i] = x;
            width[i] = Math.max(LEAST_WIDTH, letters * LETTER + 16);
            double top = MARGIN + (tallest - layer.size()) * ROW / 2.0;
            for (int row = 0; row < layer.size(); row++) {
                middle[layer.get(row)] = top + row * ROW + ROW / 2.0;
            }
            x += width[i] + GAP;
        }
        right = x - GAP + MARGIN;
    }

    private String label(int task) {
        String id = Printable.oneLine(graph.task(task).id());
        return id.length() <= LONGEST_LABEL ? id : id.substring(0, LONGEST_LABEL - 1) + "…";
    }

    private void edge(Edge edge, StringBuilder svg) {
        int from = layers.layerOf(edge.from());
        double x1 = left[from] + width[from];
        double x2 = left[layers.layerOf(edge.to())];
        double bend = GAP / 2.0;
        svg.append(String.format(
                Locale.ROOT,
                "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"%s><title>%s</title></path>%n",
                x1,
                middle[edge.from()],
                x1 + bend,
                middle[edge.from()],
                x2 - bend,
                middle[edge.to()],
                x2,
                middle[edge.to()],
                edge.isMust() ? "" : " stroke-dasharray=\"5 3\"",
                escaped(graph.task(edge.from()).id() + " → "
                        + graph.task(edge.to()).id() + " (" + edge.label() + ")")));
    }

    private void task(int task, StringBuilder svg) {
        int layer = layers.layerOf(task);
        svg.append(String.format(
                Locale.ROOT,
                "<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"5\" fill=\"#eef2f6\""
                        + " stroke=\"#475467\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\""
                        + " fill=\"#101828\">%s</text></g>%n",
                escaped(graph.task(task).id() + " [" + graph.task(task).group() + "]"),
                left[layer],
                middle[task] - HEIGHT / 2.0,
                width[layer],
                HEIGHT,
                left[layer] + width[layer] / 2,
                middle[task] + 4,
                escaped(label(task))));
    }

    private static String escaped(String text) {
        return Printable.oneLine(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
