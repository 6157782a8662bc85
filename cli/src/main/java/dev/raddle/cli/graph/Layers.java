package dev.raddle.cli.graph;

import dev.raddle.cli.graph.PlanGraph.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The layers of a graph, and an order in each layer that causes few edge crossings.
 *
 * @param all the tasks of each layer in order
 */
public record Layers(List<List<Integer>> all) {
    private static final int SWEEPS = 4;

    /*
     * Overview.
     *
     * A task's layer is the length of the longest path that leads to it, so every edge leads to a later layer.
     *
     * The initial order in the layers is that of the file. Then the layers are swept forward and backward: each layer
     * is sorted by the mean position of a task's neighbours on the side from which the sweep comes (its barycenter).
     * Positions are fractions of a layer's height, so that layers of different size are comparable. A task without
     * neighbours there keeps its position.
     */

    /** Returns the layers of an acyclic graph. */
    public static Layers of(PlanGraph graph) {
        int[] layerOf = longestPaths(graph);
        List<List<Integer>> layers = new ArrayList<>();
        for (int task = 0; task < graph.size(); task++) {
            while (layers.size() <= layerOf[task]) {
                layers.add(new ArrayList<>());
            }
            layers.get(layerOf[task]).add(task);
        }
        double[] place = new double[graph.size()];
        layers.forEach(layer -> number(layer, place));
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            boolean forward = sweep % 2 == 0;
            for (List<Integer> layer : forward ? layers : layers.reversed()) {
                sort(layer, graph, forward, place);
            }
        }
        return new Layers(layers.stream().map(List::copyOf).toList());
    }

    private static int[] longestPaths(PlanGraph graph) {
        int[] layerOf = new int[graph.size()];
        int[] unvisited = new int[graph.size()];
        Deque<Integer> ready = new ArrayDeque<>();
        for (int task = 0; task < graph.size(); task++) {
            unvisited[task] = graph.into(task).size();
            if (unvisited[task] == 0) {
                ready.add(task);
            }
        }
        while (!ready.isEmpty()) {
            int task = ready.remove();
            for (Edge edge : graph.outOf(task)) {
                layerOf[edge.to()] = Math.max(layerOf[edge.to()], layerOf[task] + 1);
                if (--unvisited[edge.to()] == 0) {
                    ready.add(edge.to());
                }
            }
        }
        return layerOf;
    }

    private static void sort(List<Integer> layer, PlanGraph graph, boolean forward, double[] place) {
        if (layer.size() < 2) {
            return;
        }
        Map<Integer, Double> barycenters = new HashMap<>();
        for (int task : layer) {
            List<Edge> edges = forward ? graph.into(task) : graph.outOf(task);
            barycenters.put(
                    task,
                    edges.stream()
                            .mapToDouble(edge -> place[forward ? edge.from() : edge.to()])
                            .average()
                            .orElse(place[task]));
        }
        layer.sort(Comparator.comparingDouble(task -> Objects.requireNonNull(barycenters.get(task))));
        number(layer, place);
    }

    private static void number(List<Integer> layer, double[] place) {
        for (int i = 0; i < layer.size(); i++) {
            place[layer.get(i)] = (i + 0.5) / layer.size();
        }
    }
}
