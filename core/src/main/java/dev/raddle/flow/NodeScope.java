package dev.raddle.flow;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.time.Deadline;
import org.jspecify.annotations.Nullable;

/** Encloses the action of a node: its scopes and groups have the time that is left. */
final class NodeScope extends EnclosingScope {

    private final RunEnvironment run;
    private final int node;
    private final @Nullable Deadline deadline;
    private final @Nullable EnclosingScope around;

    NodeScope(RunEnvironment run, int node, @Nullable Deadline own, @Nullable EnclosingScope around) {
        this.run = run;
        this.node = node;
        this.around = around;
        Deadline outer = around == null ? null : around.deadline();
        boolean isOuterFirst =
                outer != null && (own == null || outer.remaining().compareTo(own.remaining()) < 0);
        deadline = isOuterFirst ? outer : own;
    }

    @Override
    public @Nullable Deadline deadline() {
        return deadline;
    }

    @Override
    public String label() {
        return "node \"" + run.graph.ids[node] + "\" of " + run.label();
    }

    @Override
    public @Nullable EnclosingScope enclosing() {
        return around;
    }
}
