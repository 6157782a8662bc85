package dev.raddle.cli.graph;

import dev.raddle.cli.file.value.Printable;
import java.util.List;

/**
 * The positions of the tasks in a drawing: from left to right, a column for each layer. Immutable. Lengths are in
 * pixels.
 */
public final class Placement {
    /** The height of a task's box. */
    public static final int BOX_HEIGHT = 26;

    static final int GAP = 90;
    private static final int MARGIN = 20;
    private static final int ROW = 38;
    private static final int MAX_LABEL = 32;
    private static final double LETTER = 7.3; // of the monospaced font at 12 px
    private static final int MIN_WIDTH = 48;

    private final PlanGraph graph;
    private final double[] left;
    private final double[] width;
    private final double[] middle;
    private double right;
    private double bottom;

    private Placement(PlanGraph graph) {
        this.graph = graph;
        this.left = new double[graph.size()];
        this.width = new double[graph.size()];
        this.middle = new double[graph.size()];
    }

    /** Creates the placement of the tasks. */
    public static Placement of(PlanGraph graph, Layers layers) {
        Placement placement = new Placement(graph);
        placement.place(layers.all());
        return placement;
    }

    private void place(List<List<Integer>> layers) {
        int tallest = layers.stream().mapToInt(List::size).max().orElse(0);
        bottom = 2 * MARGIN + (double) tallest * ROW;
        double x = MARGIN;
        for (List<Integer> layer : layers) {
            int letters =
                    layer.stream().mapToInt(task -> label(task).length()).max().orElse(0);
            double wide = Math.max(MIN_WIDTH, letters * LETTER + 16);
            double top = MARGIN + (tallest - layer.size()) * ROW / 2.0;
            for (int row = 0; row < layer.size(); row++) {
                int task = layer.get(row);
                left[task] = x;
                width[task] = wide;
                middle[task] = top + row * ROW + ROW / 2.0;
            }
            x += wide + GAP;
        }
        right = x - GAP + MARGIN;
    }

    /** Returns the text in the box of a task. */
    public String label(int task) {
        String id = Printable.oneLine(graph.task(task).id());
        return id.length() <= MAX_LABEL ? id : id.substring(0, MAX_LABEL - 1) + "…";
    }

    /** Returns the left edge of a task's box. */
    public double left(int task) {
        return left[task];
    }

    /** Returns the width of a task's box. */
    public double width(int task) {
        return width[task];
    }

    /** Returns the vertical center of a task's box, from the top. */
    public double middle(int task) {
        return middle[task];
    }

    /** Returns the width of the drawing. */
    public double width() {
        return right;
    }

    /** Returns the height of the drawing. */
    public double height() {
        return bottom;
    }
}
