package dev.raddle.flow;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One node of a plan, for drawing and checking.
 *
 * @param id the id of the node
 * @param upstreams the dependencies, in declaration order
 * @param essential whether the node is never skipped as unneeded
 * @param output whether the plan returns its value
 * @param group the key of its group; null if it has none, or the key depends on the run
 * @param digest a digest of its id, its dependencies, the signal or sleep that it is, and {@code output}, which is the
 *     same in every JVM: a run can continue only with a plan whose nodes have equal digests
 */
public record PlanNode(
        String id,
        List<PlanEdge> upstreams,
        boolean essential,
        boolean output,
        @Nullable String group,
        String digest) {

    /** Copies the list. */
    public PlanNode {
        upstreams = List.copyOf(upstreams);
    }
}
