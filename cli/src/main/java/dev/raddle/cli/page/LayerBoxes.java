package dev.raddle.cli.page;

import dev.raddle.cli.graph.Layers;
import dev.raddle.cli.graph.PlanGraph;
import dev.raddle.cli.graph.PlanGraph.Edge;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;

/** Draws a graph that is too large to be drawn by tasks: a box for each layer, or for several consecutive layers. */
final class LayerBoxes {
    private static final int MAX_BOXES = 120;

    private LayerBoxes() {}

    /**
     * Returns the boxes, for the page.
     *
     * @param stateOf the function from a task to its state, a number below {@code states}
     */
    static List<Map<String, Object>> of(PlanGraph graph, Layers layers, int states, IntUnaryOperator stateOf) {
        int all = layers.all().size();
        int each = (all + MAX_BOXES - 1) / MAX_BOXES;
        int count = (all + each - 1) / each;
        int[][] counts = new int[count][states];
        for (int task = 0; task < graph.size(); task++) {
            counts[layers.layerOf(task) / each][stateOf.applyAsInt(task)]++;
        }
        List<Map<Integer, Integer>> links = new ArrayList<>();
        for (int box = 0; box < count; box++) {
            links.add(new TreeMap<>());
        }
        for (Edge edge : graph.edges()) {
            int from = layers.layerOf(edge.from()) / each;
            int to = layers.layerOf(edge.to()) / each;
            if (from != to) {
                links.get(from).merge(to, 1, Integer::sum);
            }
        }
        List<Map<String, Object>> boxes = new ArrayList<>();
        for (int box = 0; box < count; box++) {
            int first = box * each;
            int last = Math.min(all, first + each) - 1;
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("label", first == last ? "layer " + (first + 1) : (first + 1) + " to " + (last + 1));
            fields.put("from", first);
            fields.put("to", last);
            fields.put("counts", numbers(counts[box]));
            fields.put(
                    "links",
                    links.get(box).entrySet().stream()
                            .map(link -> List.of(link.getKey(), link.getValue()))
                            .toList());
            boxes.add(fields);
        }
        return boxes;
    }

    private static List<Integer> numbers(int[] counts) {
        List<Integer> numbers = new ArrayList<>();
        for (int count : counts) {
            numbers.add(count);
        }
        return numbers;
    }
}
