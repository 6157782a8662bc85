package dev.raddle.flow;

import dev.raddle.kernel.Attempts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one thread has in hand for one run: nodes that have ended and of which nobody has been told, and nodes that are ready. In
 * the slot of a node it says that this thread runs it.
 */
final class Runner implements Mark {

    /** A place of which no node is: whoever only decides runs nothing. */
    static final byte NOWHERE = 3;

    private static final int[] EMPTY = {};

    @Nullable
    Thread thread;

    byte place; // whose nodes it may go on with

    /**
     * How many nodes it has finished and not told the run. Whoever ends the node that it is in takes this over: it was written
     * before the step to this runner, and is not written again before the runner has found out.
     */
    int finished;

    long now; // the moment at which the last node ended, or -1
    long began; // when it entered the action of the node that it is in, or -1

    volatile @Nullable Attempts<?> attempts; // that it is at, of a node with a retry policy
    int failed = Settled.NOBODY; // the first node that failed and is to stop the run
    boolean isLettingGo; // whether somebody further down the stack takes what is open
    boolean isHome; // whether its thread is the one that joins this run or one around it, whose interrupts are its own
    boolean isForValue; // at home: whether it goes on only until the outputs have ended
    boolean placesAnywhere; // whether it places nodes in groups also if it is the thread for alarms
    int postponed; // places, as bits, whose schedulers want what is handed over run in this thread
    final ReadyNodes ready = new ReadyNodes(); // to be handed over
    final ReadyNodes grouped = new ReadyNodes(); // to be placed in their groups
    int kept = Settled.NOBODY; // the top of a stack of nodes that it runs itself: of one at most, unless it is at home

    /** The steps that its thread does at the bottom of its stack; null until there is one. */
    @Nullable
    Later later;

    boolean isBottom; // whether it does those steps itself; otherwise a runner further down the stack does
    boolean isCollecting; // whether its caller stops the nested runs that it finds
    private @Nullable List<Engine> stopped; // runs in the places of nodes that it has ended; null if there are none
    private int[] ended = EMPTY;
    private int endedCount;
    private int told;
    private int[] open = EMPTY;
    private int openCount;

    void addEnded(int node) {
        if (endedCount == ended.length) {
            ended = grown(ended);
        }
        ended[endedCount++] = node;
    }

    /** Returns the node that ended first of those that nobody was told of, or -1. */
    int nextEnded() {
        if (told < endedCount) {
            return ended[told++];
        }
        told = 0;
        endedCount = 0;
        return -1;
    }

    /** Tells whether there are nodes that have ended and of which nobody has been told. */
    boolean hasEnded() {
        return told < endedCount;
    }

    /** Notes a node whose upstreams have one consumer less. */
    void addOpen(int node) {
        if (openCount == open.length) {
            open = grown(open);
        }
        open[openCount++] = node;
    }

    /** Returns the steps that its thread does later; creates the list if there is none. */
    Later later() {
        Later known = later;
        if (known == null) {
            known = new Later(place == Handover.GROUPED);
            later = known;
            isBottom = true;
        }
        return known;
    }

    boolean hasLater() {
        return later != null && !later.isEmpty();
    }

    /** Adds a nested run whose node has ended otherwise. */
    void addStopped(Engine run) {
        if (stopped == null) {
            stopped = new ArrayList<>();
        }
        stopped.add(run);
    }

    List<Engine> takeStopped() {
        List<Engine> all = stopped;
        stopped = null;
        return all == null ? List.of() : all;
    }

    int takeOpen() {
        return openCount == 0 ? -1 : open[--openCount];
    }

    private static int[] grown(int[] full) {
        return Arrays.copyOf(full, Math.max(8, 2 * full.length));
    }
}
