package dev.raddle.flow.threads;

import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * The calls by which a thread enters a run, other than those of its handle: the thread of a scheduler or group
 * that runs nodes or refuses to, and any thread that ends a node later.
 */
public interface RunEntry {

    /** Returns the name of the flow. */
    String name();

    /** Returns the name of the run for messages. */
    String label();

    /** Runs ready nodes of one place, and those that become ready in this thread, until there are none. */
    void runReady(byte place);

    /** Runs a node whose group has granted a permit, and no other node: the permit is for this one. */
    void runGrouped(GroupPlacement placement);

    /** Runs a node in the thread that places it, as its group requires. The caller processes the consequences. */
    void runInPlace(GroupPlacement placement, Runner placer);

    /** Called when a scheduler refuses a request after accepting it. */
    void handleRefusal(byte place, RejectedExecutionException refusal);

    /** Called when a group refuses to run a node. */
    void handleRefusal(GroupPlacement placement, RejectedExecutionException refusal);

    /**
     * Applies transitions in a thread that runs no node, processes their consequences, and dispatches the triggered
     * nodes.
     */
    void runTransitions(Consumer<Runner> action);
}
