package dev.raddle.flow.threads;

import java.util.BitSet;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Registers the wait of the thread that joins a run with the groups of the nodes that it waits for, so that a group can
 * detect a wait that never ends.
 *
 * <p>A joining thread writes the fields, then `joining`, then registers the nodes that are placed; a thread that places
 * a node does so first and then reads `joining`. So a node of a joined run is registered by one of them.
 */
public final class GroupWaits {

    private final @Nullable GroupWaits outer; // of the enclosing run; null unless the run is nested
    private final int outerNode; // the node of the outer run that the run executes
    private volatile @Nullable Thread joining; // non-null during a registered wait
    private @Nullable ConcurrentLinkedQueue<GroupPlacement> awaited; // by the joining thread; written before `joining`
    private @Nullable BitSet awaitedNodes; // likewise: the nodes that it waits for; null for all

    public GroupWaits(@Nullable GroupWaits outer, int outerNode) {
        this.outer = outer;
        this.outerNode = outerNode;
    }

    /** Begins a wait of the calling thread for the given nodes, or for all if null. Returns the list of the wait. */
    public ConcurrentLinkedQueue<GroupPlacement> begin(@Nullable BitSet nodes) {
        ConcurrentLinkedQueue<GroupPlacement> noted = new ConcurrentLinkedQueue<>();
        awaited = noted;
        awaitedNodes = nodes;
        joining = Thread.currentThread();
        return noted;
    }

    /** Ends a wait of the calling thread. */
    public void end(ConcurrentLinkedQueue<GroupPlacement> noted) {
        Thread self = Thread.currentThread();
        joining = null;
        for (GroupPlacement placement; (placement = noted.poll()) != null; ) {
            placement.endWait(self);
        }
    }

    /**
     * Registers that the joining thread of this run, or else that of the next outer run that is joined, waits for a
     * node of this run.
     *
     * @throws IllegalStateException if the node could never begin because of this
     */
    public void register(GroupPlacement placement) {
        int node = placement.node;
        for (GroupWaits each = this; each != null && !each.registerOwn(placement, node); each = each.outer) {
            node = each.outerNode;
        }
    }

    /**
     * Registers a wait for a node of this run, or for the node in whose nested run the placed node is. Returns false if
     * no thread is joining.
     */
    private boolean registerOwn(GroupPlacement placement, int node) {
        Thread waiter = joining;
        if (waiter == null) {
            return false;
        }
        BitSet only = awaitedNodes;
        if (only != null && !only.get(node)) {
            return true; // the joining thread waits for other nodes only
        }
        if (placement.beginWait(waiter)) {
            Objects.requireNonNull(awaited).add(placement);
            if (joining != waiter) {
                placement.endWait(waiter);
            }
        }
        return true;
    }
}
