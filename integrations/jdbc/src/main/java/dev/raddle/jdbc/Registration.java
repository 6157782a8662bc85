package dev.raddle.jdbc;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanNode;
import dev.raddle.flow.RunOptions;
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

    String flow() {
        return plan.name();
    }

    String taskName() {
        return RunTable.taskName(flow(), version);
    }
}
