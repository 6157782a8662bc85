package dev.raddle.limit;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Permits that have just been granted, oldest first, for the thread that made them possible to act on once it is out of
 * every lock. It must act on each: a granted permit occupies its slots until it is given back. Belongs to one thread.
 */
public final class Grants {

    private @Nullable Permit first; // most collections hold one permit or none
    private @Nullable ArrayDeque<Permit> more;
    private int size;

    /** Creates an empty collection. */
    public Grants() {}

    void add(Permit permit) {
        size++;
        if (first == null) {
            first = permit;
            return;
        }
        ArrayDeque<Permit> rest = more;
        if (rest == null) {
            rest = new ArrayDeque<>();
            more = rest;
        }
        rest.add(permit);
    }

    int size() {
        return size;
    }

    /**
     * Takes out the permit that was granted first.
     *
     * @return a permit to act on, or null if none is left
     */
    public @Nullable Permit poll() {
        Permit oldest = first;
        if (oldest != null) {
            first = more == null ? null : more.poll();
            size--;
        }
        return oldest;
    }
}
