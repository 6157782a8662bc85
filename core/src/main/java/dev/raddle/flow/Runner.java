package dev.raddle.flow;

import java.util.ArrayDeque;
import java.util.Arrays;
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

    int failed = Settled.NOBODY; // the first node that failed and is to stop the run
    boolean isLettingGo; // whether somebody further down the stack takes what is open
    boolean isHome; // whether it is that of the thread that joins
    private int[] ended = EMPTY;
    private int endedCount;
    private int told;
    private int[] ready = EMPTY;
    private int readyCount;
    private int turned; // so many of the ready nodes lie in the order in which they are to be taken, the next one last
    private @Nullable ArrayDeque<Handoff> postponed;
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

    void addReady(int node) {
        if (readyCount == ready.length) {
            ready = grown(ready);
        }
        ready[readyCount++] = node;
    }

    void setReady(int position, int node) {
        ready[position] = node;
    }

    int readyCount() {
        return readyCount;
    }

    int ready(int position) {
        return ready[position];
    }

    /** Forgets the ready nodes from a position on, which are handed over. */
    void keepReady(int count) {
        readyCount = count;
    }

    /** Takes the ready node that was added last, or -1. */
    int takeReady() {
        if (readyCount == 0) {
            return -1;
        }
        turned = readyCount - 1;
        return ready[--readyCount];
    }

    /** Has the ready nodes that were added since the last call taken in the order in which they were added. */
    void turnNewReady() {
        for (int low = turned, high = readyCount - 1; low < high; low++, high--) {
            int swapped = ready[low];
            ready[low] = ready[high];
            ready[high] = swapped;
        }
        turned = readyCount;
    }

    /** Notes a node whose upstreams have one consumer less. */
    void addOpen(int node) {
        if (openCount == open.length) {
            open = grown(open);
        }
        open[openCount++] = node;
    }

    int takeOpen() {
        return openCount == 0 ? -1 : open[--openCount];
    }

    /** Notes a node that the scheduler wants run in this thread, later. */
    void postpone(Handoff handoff) {
        if (postponed == null) {
            postponed = new ArrayDeque<>();
        }
        postponed.add(handoff);
    }

    @Nullable
    Handoff takePostponed() {
        return postponed == null ? null : postponed.poll();
    }

    private static int[] grown(int[] full) {
        return Arrays.copyOf(full, Math.max(8, 2 * full.length));
    }
}
