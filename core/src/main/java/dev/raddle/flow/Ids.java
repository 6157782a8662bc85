package dev.raddle.flow;

import java.util.Arrays;

/**
 * The ids of a flow's nodes by position, and the positions by id, without an object for each. Not thread-safe until
 * copied.
 */
final class Ids {

    /*
     * The table uses open addressing with linear probing, and has at least twice as many slots as there are ids, so a
     * search is short. A slot contains the position plus one, or zero if it is free.
     */

    private static final int NOT_FOUND = -1;

    private String[] ids;
    private int[] table;
    private int size;

    Ids() {
        this(new String[8], new int[16], 0);
    }

    private Ids(String[] ids, int[] table, int size) {
        this.ids = ids;
        this.table = table;
        this.size = size;
    }

    /** Appends an id. Returns false if an equal id is present already; {@link #find} returns that one. */
    boolean add(String id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
            table = new int[4 * size];
            for (int position = 0; position < size; position++) {
                index(position);
            }
        }
        ids[size] = id;
        return index(size++);
    }

    private boolean index(int position) {
        int slot = slotOf(ids[position]);
        if (table[slot] != 0) {
            return false;
        }
        table[slot] = position + 1;
        return true;
    }

    /** Returns the slot of an id, or the free slot where it belongs. */
    private int slotOf(String id) {
        int hash = id.hashCode() * 0x9E3779B9; // spreads ids that differ in their last letters only
        int last = table.length - 1;
        int slot = (hash ^ hash >>> 16) & last;
        while (table[slot] != 0 && !ids[table[slot] - 1].equals(id)) {
            slot = (slot + 1) & last;
        }
        return slot;
    }

    /** Returns the position of an id, or -1. */
    int find(String id) {
        int found = table[slotOf(id)];
        return found == 0 ? NOT_FOUND : found - 1;
    }

    /** Returns a copy, which later additions do not change. */
    Ids copy() {
        return new Ids(Arrays.copyOf(ids, size), table.clone(), size);
    }

    /** Returns the ids by position, in an array that may be longer unless this is a copy. */
    String[] byPosition() {
        return ids;
    }
}
