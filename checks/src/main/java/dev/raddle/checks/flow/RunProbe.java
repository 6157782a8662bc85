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

/** The observations of one run. It is the parameter of the flow, so every action finds the probe of its run. */
final class RunProbe {

    private static final int ALL_ANCESTORS = 64; // for larger flows only the direct upstreams are checked

    final Object parameter;
    final Monitor monitor;
    private final Map<String, NodeProbe> nodes = new LinkedHashMap<>();
    private final Map<String, Set<String>> upstreams;
    private final Map<String, Integer> barriers = new HashMap<>(); // guarded by the monitor
    private long returnedAt; // guarded by the monitor; 0 until the run has returned

    /** Returns the upstreams that the callbacks of each node check, one map for all runs of a case. */
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
            collectAncestors(node.id(), direct, above);
            all.put(node.id(), above);
        });
        return all;
    }

    private static void collectAncestors(String id, Map<String, Set<String>> direct, Set<String> above) {
        for (String each : direct.getOrDefault(id, Set.of())) {
            if (above.add(each)) {
                collectAncestors(each, direct, above);
            }
        }
    }

    RunProbe(FlowCase flowCase, Map<String, Set<String>> upstreams, Object parameter, Monitor monitor) {
        this.parameter = parameter;
        this.monitor = monitor;
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
        monitor.record(number -> returnedAt = number);
    }

    /** Returns whether every action that was entered has ended. The caller holds the monitor. */
    boolean isQuiet() {
        return nodes.values().stream().allMatch(node -> node.ended == node.entered);
    }

    void begin(String id, Function<String, NodeState> states) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        monitor.record(number -> {
            probe.begun++;
            probe.begunAt = number;
            probe.interruptedBefore |= flag;
        });
        // Only now: the effects of every callback that was recorded before must be visible.
        Set<String> skipped = skipped(id, states);
        monitor.record(number -> probe.skippedBefore = skipped);
    }

    /** Records that the action is entered; returns the number of the attempt. */
    int enter(String id) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        monitor.record(number -> {
            if (probe.entered++ == 0) {
                probe.enteredAt = number;
            }
            probe.lastEnteredAt = number;
            probe.interruptedBefore |= flag;
            probe.thread = Thread.currentThread();
        });
        return monitor.read(() -> probe.entered);
    }

    void leave(String id) {
        NodeProbe probe = node(id);
        boolean flag = Thread.currentThread().isInterrupted();
        monitor.record(number -> {
            probe.ended++;
            probe.endedAt = number;
            probe.interrupted |= flag;
        });
    }

    void interrupted(String id) {
        NodeProbe probe = node(id);
        monitor.record(number -> probe.interrupted = true);
    }

    /**
     * Records the result callback of a node.
     *
     * @param states the function from a node's id to its state, or null if it is unavailable
     */
    void report(NodeReport<?> report, Function<String, NodeState> states) {
        NodeProbe probe = node(report.id());
        if (probe == null) {
            monitor.complain("a result callback received a report of \"" + report.id() + "\", which is not a node");
            return;
        }
        monitor.record(number -> {
            probe.reported++;
            probe.reportedAt = number;
            probe.report = report;
        });
        if (states != null && monitor.read(() -> probe.begunAt == 0)) {
            Set<String> skipped = skipped(report.id(), states);
            monitor.record(number -> probe.skippedBefore = skipped);
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

    /** Waits until the given number of nodes has reached the barrier. */
    void barrier(String name, int count) throws InterruptedException {
        monitor.record(number -> barriers.merge(name, 1, Integer::sum));
        if (!monitor.await(() -> barriers.get(name) >= count, Monitor.inSeconds(5))) {
            int here = monitor.read(() -> barriers.get(name));
            String problem = "only " + here + " of " + count + " nodes reached the barrier \"" + name + "\" in 5 s";
            monitor.complain(problem);
            throw new AssertionError(problem);
        }
    }

    List<NodeProbe> probes() {
        return List.copyOf(nodes.values());
    }
}
