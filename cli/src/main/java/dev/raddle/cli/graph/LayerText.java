package dev.raddle.cli.graph;

import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Printable;
import java.util.List;

/** Writes a graph for a terminal. */
final class LayerText {
    private static final int MAX_WIDTH = 40;

    private LayerText() {}

    static String of(PlanGraph graph) {
        List<List<Integer>> layers = Layers.of(graph).all();
        StringBuilder text = new StringBuilder()
                .append(Printable.oneLine(graph.name()) + ": ")
                .append(count(graph.size(), "task") + ", ")
                .append(count(graph.edges().size(), "edge") + ", ")
                .append(count(layers.size(), "layer") + "\n");
        for (int i = 0; i < layers.size(); i++) {
            List<Integer> layer = layers.get(i);
            text.append("\nlayer ")
                    .append(i + 1)
                    .append(", ")
                    .append(count(layer.size(), "task"))
                    .append('\n');
            int width = layer.stream()
                    .mapToInt(task -> title(graph.task(task)).length())
                    .filter(length -> length <= MAX_WIDTH)
                    .max()
                    .orElse(MAX_WIDTH);
            layer.forEach(task -> line(graph.task(task), width, text));
        }
        return text.toString();
    }

    private static void line(PlannedTask task, int width, StringBuilder text) {
        String title = title(task);
        List<String> needs = task.flow().needs().stream().map(Need::text).toList();
        text.append("  ").append(title);
        if (!needs.isEmpty()) {
            text.append(" ".repeat(Math.max(0, width - title.length())))
                    .append("  <- ")
                    .append(String.join(", ", needs));
        }
        text.append('\n');
    }

    private static String title(PlannedTask task) {
        return Printable.oneLine(task.id()) + " [" + Printable.oneLine(task.group()) + "]"
                + (task.flow().essential() ? " essential" : "");
    }

    private static String count(int number, String one) {
        return number + " " + one + (number == 1 ? "" : "s");
    }
}
