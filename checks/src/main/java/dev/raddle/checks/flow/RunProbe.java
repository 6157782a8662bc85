package dev.raddle.checks.flow;

import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** What was seen of one run: it is the parameter of the flow, so every action finds the run that it belongs to. */
final class RunProbe {

    private static final int ALL_ANCESTORS = 64; // of larger flows only the direct upstreams are looked at

    final Object parameter;
    final Stage stage;
    private final Map<String, NodeProbe> nodes = new LinkedHashMap<>();
    private final Map<String, Set<String>> upstreams;
    private final Map<String, Integer> barriers = new HashMap<>(); // guarded by the stage
    private long returnedAt; // guarded by the stage; 0 while the run goes on

    /** The upstreams of each node that a callback looks at, one map for all runs of a case. */
    static Map<String, Set<String>> upstreams(FlowCase flowCase) {
        Map<String, Set<String>> direct = new HashMap<>();
        flowCase.edges()
                .forEach(edge ->
                        direct.computeIfAbsent(edge.to(), to -> new HashSet<>()).add(edge.from()));
        if (flowCase.nodes().size() > ALL_ANCESTORS) {
            return direct;
        }
        Map<String, Set<String>> all = new HashMap<>();
        flowCase.nodes().forEach(node -> {
            Set<String> above = new HashSet<>();
            climb(node.id(), direct, above);
            all.put(node.id(), above);
        });
        return all;
    }

    private static void climb(String id, Map<String, Set<String>> direct, Set<String> above) {
        for (String each : direct.getOrDefault(id, Set.of())) {
            if (above.add(each)) {
                climb(each, direct, above);
            }
        }
    }

    RunProbe(FlowCase flowCase, Map<String, Set<String>> upstreams, Object parameter, Stage stage) {
        this.parameter = parameter;
        this.stage = stage;
        this.upstreams = upstreams;
        flowCase.nodes().forEach(node -> nodes.put(node.id(), new NodeProbe(node)));
    }

    Set<String> upstreams(String id) {
        return upstreams.getOrDefault(id, Set.of());
    }

    NodeProbe node(String id) {
        return nodes.get(id);
    }

    Iterable<NodeProbe> nodes() {
        return nodes.values();
    }

    boolean hasReturned() {
        return returnedAt != 0;
    }

    long returnedAt() {
        return returnedAt;
    }

    void returned() {
        stage.happened(number -> returnedAt = number);
    }

    /** Has every action that was entered ended? Asked under the stage's lock. */
    boolean isQuiet() {
        return nodes.values().stream().allMatch(node -> node.ended == node.entered);
    }

    void begin(String id, Function<String, NodeState> states) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        stage.happened(number -> {
            probe.begun++;
            probe.begunAt = number;
            probe.interruptedBefore |= flag;
        });
        // Not before: what was heard of earlier must have had its effects by now.
        Set<String> skipped = skipped(id, states);
        stage.happened(number -> probe.skippedBefore = skipped);
    }

    /** Returns which attempt begins. */
    int enter(String id) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        stage.happened(number -> {
            if (probe.entered++ == 0) {
                probe.enteredAt = number;
            }
            probe.lastEnteredAt = number;
            probe.interruptedBefore |= flag;
            probe.thread = Thread.currentThread();
        });
        return stage.look(() -> probe.entered);
    }

    void leave(String id) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        stage.happened(number -> {
            probe.ended++;
            probe.endedAt = number;
            probe.interrupted |= flag;
        });
    }

    void interrupted(String id) {
        NodeProbe probe = node(id);
        stage.happened(number -> probe.interrupted = true);
    }

    /**
     * Takes the news of a node's end.
     *
     * @param states tells the state of every node, or null if that cannot be known here
     */
    void report(NodeReport<?> report, Function<String, NodeState> states) {
        NodeProbe probe = node(report.id());
        if (probe == null) {
            stage.complain("a result callback spoke of \"" + report.id() + "\", which is no node");
            return;
        }
        stage.happened(number -> {
            probe.reported++;
            probe.reportedAt = number;
            probe.report = report;
        });
        if (states != null && stage.look(() -> probe.begunAt == 0)) {
            Set<String> skipped = skipped(report.id(), states);
            stage.happened(number -> probe.skippedBefore = skipped);
        }
    }

    private Set<String> skipped(String id, Function<String, NodeState> states) {
        Set<String> skipped = new HashSet<>();
        for (String each : upstreams(id)) {
            if (states.apply(each) == NodeState.SKIPPED) {
                skipped.add(each);
            }
        }
        return skipped;
    }

    /** Waits until so many nodes are here. */
    void barrier(String name, int count) throws InterruptedException {
        stage.happened(number -> barriers.merge(name, 1, Integer::sum));
        if (!stage.await(() -> barriers.get(name) >= count, Stage.inSeconds(5))) {
            int here = stage.look(() -> barriers.get(name));
            String problem = "only " + here + " of " + count + " nodes came to the barrier \"" + name + "\" in 5 s";
            stage.complain(problem);
            throw new AssertionError(problem);
        }
    }

    List<NodeProbe> probes() {
        return List.copyOf(nodes.values());
    }
}
