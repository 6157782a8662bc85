package dev.raddle.bench;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A graph of empty nodes, as a flow and as hand-written futures. The last node depends on all others. */
final class FlowShape {

    private final List<int[]> upstreams = new ArrayList<>(); // of each node

    private FlowShape() {}

    static FlowShape of(String name) {
        FlowShape shape = new FlowShape();
        switch (name) {
            case "chain 100" -> shape.chain(100);
            case "fan 100" -> shape.fan(100);
            case "layers 1000" -> shape.layers(1000);
            case "layers 100" -> shape.layers(100);
            case "layers 10000" -> shape.layers(10_000);
            case "layers 100000" -> shape.layers(100_000);
            case "diamonds 33" -> shape.diamonds(33);
            default -> throw new IllegalArgumentException("no shape is called \"" + name + "\"");
        }
        return shape;
    }

    private int add(int... up) {
        upstreams.add(up);
        return upstreams.size() - 1;
    }

    private void chain(int nodes) {
        int last = add();
        while (upstreams.size() < nodes) {
            last = add(last);
        }
    }

    private void fan(int width) {
        int root = add();
        int[] middle = new int[width];
        for (int each = 0; each < width; each++) {
            middle[each] = add(root);
        }
        add(middle);
    }

    /** Layers of ten nodes, each with one to three upstreams in the layer before. */
    private void layers(int nodes) {
        Random random = new Random(42);
        List<Integer> before = new ArrayList<>();
        while (upstreams.size() < nodes - 1) {
            List<Integer> layer = new ArrayList<>();
            for (int each = 0; each < 10 && upstreams.size() < nodes - 1; each++) {
                int[] up = before.isEmpty()
                        ? new int[0]
                        : random.ints(0, before.size())
                                .distinct()
                                .limit(1 + random.nextInt(3))
                                .map(before::get)
                                .toArray();
                layer.add(add(up));
            }
            before = layer;
        }
        boolean[] used = new boolean[upstreams.size()];
        upstreams.forEach(up -> {
            for (int each : up) {
                used[each] = true;
            }
        });
        List<Integer> sinks = new ArrayList<>();
        for (int node = 0; node < used.length; node++) {
            if (!used[node]) {
                sinks.add(node);
            }
        }
        add(sinks.stream().mapToInt(Integer::intValue).toArray());
    }

    private void diamonds(int count) {
        int last = add();
        for (int each = 0; each < count; each++) {
            int left = add(last);
            int right = add(last);
            last = add(left, right);
        }
    }

    int nodes() {
        return upstreams.size();
    }

    /** Declared nodes, from which plans can be built. */
    record Declared(FlowBuilder<Void> builder, Node<Object> output) {
        FlowPlan<Void, Object> plan() {
            return builder.returning(output);
        }
    }

    Declared declare() {
        FlowBuilder<Void> f = FlowPlan.define("shape");
        List<Node<Object>> nodes = new ArrayList<>(nodes());
        for (int node = 0; node < nodes(); node++) {
            nodes.add(declare(f, Integer.toString(node), upstreams.get(node), nodes));
        }
        return new Declared(f, nodes.getLast());
    }

    private static Node<Object> declare(FlowBuilder<Void> f, String id, int[] up, List<Node<Object>> nodes) {
        return switch (up.length) {
            case 0 -> f.node(id, () -> id);
            case 1 -> f.node(id, nodes.get(up[0]), a -> a);
            case 2 -> f.node(id, nodes.get(up[0]), nodes.get(up[1]), (a, b) -> a);
            case 3 -> f.node(id, nodes.get(up[0]), nodes.get(up[1]), nodes.get(up[2]), (a, b, c) -> a);
            default -> {
                Node<Object> join = f.node(id, () -> id);
                for (int each : up) {
                    join.needs(Dependency.order(nodes.get(each)));
                }
                yield join;
            }
        };
    }

    /**
     * Runs the graph with hand-written futures: an only consumer of its upstreams runs in the same thread, others run
     * on the pool.
     */
    Object futures(Executor pool) {
        int[] consumers = new int[nodes()];
        upstreams.forEach(up -> {
            for (int each : up) {
                consumers[each]++;
            }
        });
        List<CompletableFuture<Object>> all = new ArrayList<>(nodes());
        for (int[] up : upstreams) {
            all.add(future(up, all, consumers, pool));
        }
        return all.getLast().join();
    }

    private static CompletableFuture<Object> future(
            int[] up, List<CompletableFuture<Object>> all, int[] consumers, Executor pool) {
        return switch (up.length) {
            case 0 -> CompletableFuture.supplyAsync(() -> "done", pool);
            case 1 ->
                consumers[up[0]] == 1
                        ? all.get(up[0]).thenApply(a -> a)
                        : all.get(up[0]).thenApplyAsync(a -> a, pool);
            case 2 ->
                consumers[up[0]] == 1 && consumers[up[1]] == 1
                        ? all.get(up[0]).thenCombine(all.get(up[1]), (a, b) -> a)
                        : all.get(up[0]).thenCombineAsync(all.get(up[1]), (a, b) -> a, pool);
            default -> {
                CompletableFuture<?>[] needed = new CompletableFuture<?>[up.length];
                for (int each = 0; each < up.length; each++) {
                    needed[each] = all.get(up[each]);
                }
                yield CompletableFuture.allOf(needed).thenApply(nothing -> "done");
            }
        };
    }
}
