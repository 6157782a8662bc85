package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/**
 * Permits that have just been granted, oldest first, for the thread that made them possible to act on once it is out of
 * every lock. It must act on each: a granted permit occupies its slots until it is given back. Belongs to one thread.
 */
public final class GrantedPermits {

    private static final @Nullable Permit[] NONE = {};

    private @Nullable Permit first; // most collections hold one permit or none
    private @Nullable Permit[] more = NONE; // from `head` to `tail`: those after the first
    private int head;
    private int tail;

    /** Creates an empty collection. */
    public GrantedPermits() {}

    /** Takes the memory for further permits, so that adding these cannot fail. */
    void makeRoom(int permits) {
        int needed = first == null ? permits - 1 : permits;
        if (needed > more.length - tail) {
            @Nullable Permit[] larger = new @Nullable Permit[Math.max(16, 2 * (tail - head + needed))];
            System.arraycopy(more, head, larger, 0, tail - head);
            more = larger;
            tail -= head;
            head = 0;
        }
    }

    /** Adds a permit. That fails at most if there is no memory for it and none was taken before. */
    void add(Permit permit) {
        makeRoom(1);
        if (first == null) {
            first = permit;
        } else {
            more[tail++] = permit;
        }
    }

    int size() {
        return first == null ? 0 : 1 + tail - head;
    }

    /**
     * Takes out the permit that was granted first.
     *
     * @return a permit to act on, or null if none is left
     */
    public @Nullable Permit poll() {
        Permit oldest = first;
        if (head < tail) {
            first = more[head];
            more[head++] = null;
        } else {
            first = null;
        }
        return oldest;
    }
}
