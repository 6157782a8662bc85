package dev.raddle.flow.threads;

import dev.raddle.kernel.Attempts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one thread in one run: ended nodes that are not processed yet, and ready nodes. In the slot of a node it
 * means that this thread is inside the node.
 */
public final class Runner implements NodePhase {

    // The places whose nodes a runner runs.

    /** The scheduler of the run. */
    public static final byte RUN_SCHEDULER = 0;

    /** The scheduler for compute nodes. */
    public static final byte COMPUTE_SCHEDULER = 1;

    /** The group of a single node. */
    public static final byte GROUPED = 2;

    /** No place: the runner only applies transitions and runs no nodes. */
    public static final byte NO_PLACE = 3;

    private static final int[] EMPTY = {};

    @Nullable
    public Thread thread;

    public byte place;

    /**
     * The number of nodes that it has finished and not reported to the run. A thread that ends the node that this
     * runner is in takes this count over. This is safe: the count is written before the node's slot is set to this
     * runner, and not again before the runner has found that its node was ended.
     */
    public int finished;

    public long now; // the time at which the last node ended, or -1
    public long began; // when it entered the action of the node that it is in, or -1

    public volatile @Nullable Attempts<?> attempts; // the attempts in progress, of a node with a retry policy
    public int failed = NodeLinks.NO_NODE; // the first node whose failure must stop the run
    public boolean isReleasing; // whether a frame further down the stack processes the nodes to release
    public boolean isApplier; // whether it applies the recorded ends (EndSequence)
    public boolean
            isJoiner; // whether its thread joins this run or an outer one, so that interrupts are meant for the joiner
    public boolean isForValue; // of the joiner: whether it stops when the outputs have ended
    public int postponed; // the places, as bits, whose schedulers execute requests in this thread
    public final ReadyNodes ready = new ReadyNodes(); // to be dispatched
    public final ReadyNodes grouped = new ReadyNodes(); // to be placed in their groups
    public int kept =
            NodeLinks.NO_NODE; // the top of the stack of nodes that it runs itself: at most one, except for the joiner

    /** The steps that its thread runs at the bottom of its stack; null until there is one. */
    @Nullable
    public DeferredSteps deferred;

    public boolean isBottom; // whether it runs those steps itself; otherwise a runner further down the stack does

    @Nullable
    public List<NestedRun> stopped; // the nested runs of nodes that it has ended; null if there are none

    private int[] ended = EMPTY;
    private int endedCount;
    private int processed;
    private int[] toRelease = EMPTY;
    private int toReleaseCount;

    public void addEnded(int node) {
        if (endedCount == ended.length) {
            ended = grown(ended);
        }
        ended[endedCount++] = node;
    }

    /** Returns the next ended node to process, in the order of the ends, or -1. */
    public int nextEnded() {
        if (processed < endedCount) {
            return ended[processed++];
        }
        processed = 0;
        endedCount = 0;
        return -1;
    }

    /** Returns whether there are ended nodes that are not processed, or may be. */
    public boolean hasEnded() {
        return processed < endedCount || isApplier;
    }

    /** Adds a node whose upstreams are to be released. */
    public void addToRelease(int node) {
        if (toReleaseCount == toRelease.length) {
            toRelease = grown(toRelease);
        }
        toRelease[toReleaseCount++] = node;
    }

    /** Returns the deferred steps of its thread; creates the list if there is none. */
    public DeferredSteps deferred() {
        DeferredSteps known = deferred;
        if (known == null) {
            known = new DeferredSteps(place == GROUPED);
            deferred = known;
            isBottom = true;
        }
        return known;
    }

    public boolean hasDeferred() {
        return deferred != null && !deferred.isEmpty();
    }

    /** Adds a nested run whose node was ended. */
    public void addStopped(NestedRun run) {
        if (stopped == null) {
            stopped = new ArrayList<>();
        }
        stopped.add(run);
    }

    List<NestedRun> takeStopped() {
        List<NestedRun> all = stopped;
        stopped = null;
        return all == null ? List.of() : all;
    }

    public int takeToRelease() {
        return toReleaseCount == 0 ? -1 : toRelease[--toReleaseCount];
    }

    private static int[] grown(int[] full) {
        return Arrays.copyOf(full, Math.max(8, 2 * full.length));
    }
}
