package dev.raddle.jdbc;

import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.PlanNode;
import dev.raddle.flow.RunOptions;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
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

    private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9._-]{1,50}");

    /** Creates a registration. Throws if the version is not well-formed, or the options are for a single run. */
    static <P> Registration<P> of(FlowPlan<P, ?> plan, String version, FlowCodec codec, RunOptions options) {
        if (!VERSION.matcher(version).matches()) {
            throw new IllegalArgumentException(
                    "a version must match " + VERSION + ", was \"" + version + "\" of flow \"" + plan.name() + "\"");
        }
        if (!options.ofSingleRun().isEmpty()) {
            throw new IllegalArgumentException("flow \"" + plan.name()
                    + "\" must be registered with options that fit all of its runs, and not with "
                    + String.join(", ", options.ofSingleRun())
                    + "; use withTimeout instead of withDeadline, and FlowService.rerun instead of rerun, and"
                    + " leave the journal to the service");
        }
        Texts.requireStorable("the name of a flow", plan.name());
        plan.nodes().forEach(node -> Texts.requireStorable("the id of a node", node.id()));
        Values values = new Values(Objects.requireNonNull(codec, "codec"));
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
