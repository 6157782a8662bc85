package dev.raddle.jdbc;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanEdge;
import dev.raddle.flow.PlanNode;
import dev.raddle.flow.RunOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A version of a flow that a service can run.
 *
 * @param <P> the type of the parameter
 * @param plan the plan
 * @param version the version
 * @param values the codec of the parameter and all values
 * @param options the options of each run
 * @param nodes the ids of the nodes
 */
record Registration<P>(FlowPlan<P, ?> plan, String version, Values values, RunOptions options, Set<String> nodes) {

    static <P> Registration<P> of(FlowPlan<P, ?> plan, String version, Values values, RunOptions options) {
        Set<String> nodes = plan.nodes().stream().map(PlanNode::id).collect(Collectors.toUnmodifiableSet());
        return new Registration<>(plan, version, values, options, nodes);
    }

    /** Returns some nodes and all that depend on them, directly or not. */
    Set<String> withDependents(Collection<String> some) {
        Map<String, List<String>> dependents = new HashMap<>();
        for (PlanNode node : plan.nodes()) {
            for (PlanEdge edge : node.upstreams()) {
                dependents
                        .computeIfAbsent(edge.from(), unknown -> new ArrayList<>())
                        .add(edge.to());
            }
        }
        Set<String> found = new LinkedHashSet<>(some);
        Deque<String> left = new ArrayDeque<>(found);
        while (!left.isEmpty()) {
            for (String node : dependents.getOrDefault(left.remove(), List.of())) {
                if (found.add(node)) {
                    left.add(node);
                }
            }
        }
        return found;
    }

    String flow() {
        return plan.name();
    }

    String taskName() {
        return RunTable.taskName(flow(), version);
    }
}
