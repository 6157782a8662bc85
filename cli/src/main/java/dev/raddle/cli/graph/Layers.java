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

/** The layers of a graph, and an order inside each that lets few edges cross. Immutable. */
public final class Layers {
    private static final int SWEEPS = 4;

    /*
     * Overview.
     *
     * A task's layer is the length of the longest path that leads to it, so every edge leads to a later layer.
     *
     * The order inside the layers begins as that of the file. Then the layers are swept forth and back: each is sorted by the
     * mean place of what a task is tied to on the side that the sweep comes from (its barycenter). Places are shares of a
     * layer's height, so that layers of different size compare. What is tied to nothing stays where it is.
     */
    private final int[] layerOf;
    private final List<List<Integer>> layers;

    private Layers(int[] layerOf, List<List<Integer>> layers) {
        this.layerOf = layerOf;
        this.layers = layers;
    }

    /** The layers of an acyclic graph. */
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
            boolean forth = sweep % 2 == 0;
            for (List<Integer> layer : forth ? layers : layers.reversed()) {
                sort(layer, graph, forth, place);
            }
        }
        return new Layers(layerOf, layers.stream().map(List::copyOf).toList());
    }

    private static int[] longestPaths(PlanGraph graph) {
        int[] layerOf = new int[graph.size()];
        int[] open = new int[graph.size()];
        Deque<Integer> ready = new ArrayDeque<>();
        for (int task = 0; task < graph.size(); task++) {
            open[task] = graph.into(task).size();
            if (open[task] == 0) {
                ready.add(task);
            }
        }
        while (!ready.isEmpty()) {
            int task = ready.remove();
            for (Edge edge : graph.outOf(task)) {
                layerOf[edge.to()] = Math.max(layerOf[edge.to()], layerOf[task] + 1);
                if (--open[edge.to()] == 0) {
                    ready.add(edge.to());
                }
            }
        }
        return layerOf;
    }

    private static void sort(List<Integer> layer, PlanGraph graph, boolean forth, double[] place) {
        if (layer.size() < 2) {
            return;
        }
        Map<Integer, Double> wanted = new HashMap<>();
        for (int task : layer) {
            List<Edge> ties = forth ? graph.into(task) : graph.outOf(task);
            wanted.put(
                    task,
                    ties.stream()
                            .mapToDouble(edge -> place[forth ? edge.from() : edge.to()])
                            .average()
                            .orElse(place[task]));
        }
        layer.sort(Comparator.comparingDouble(task -> Objects.requireNonNull(wanted.get(task))));
        number(layer, place);
    }

    private static void number(List<Integer> layer, double[] place) {
        for (int i = 0; i < layer.size(); i++) {
            place[layer.get(i)] = (i + 0.5) / layer.size();
        }
    }

    /** The layer of a task, counted from 0. */
    public int layerOf(int task) {
        return layerOf[task];
    }

    /** The tasks of each layer in order. */
    public List<List<Integer>> all() {
        return layers;
    }
}
