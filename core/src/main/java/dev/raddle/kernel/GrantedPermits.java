package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/**
 * Permits that have just been granted, oldest first. The thread that collected them starts each of them after it has
 * released every lock: a granted permit occupies its slots until it is released. Confined to one thread.
 */
public final class GrantedPermits {

    private static final @Nullable Permit[] NONE = {};

    private @Nullable Permit first; // most collections hold one permit or none
    private @Nullable Permit[] more = NONE; // from `head` to `tail`: those after the first
    private int head;
    private int tail;

    /** Creates an empty collection. */
    public GrantedPermits() {}

    /** Allocates memory for further permits, so that adding them cannot fail. */
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

    /** Adds a permit. Cannot fail if memory was allocated before. */
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
     * Removes the permit that was granted first.
     *
     * @return the permit, or null if none is left
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
