package dev.raddle.flow;

import java.util.Arrays;

/** The ids of a flow's nodes by their positions, and the positions by ids, without an object for each. For one thread until copied. */
final class Ids {

    /*
     * The table is open: an id lies at the place that its hash says or at the next that was free, and there are at least twice as
     * many places as ids, so a search ends soon. A place holds the position and one, or zero if it is free.
     */

    private static final int NOBODY = -1;

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

    /** Appends an id. Returns false if there is one like it already, which is the one that will be found. */
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
        int place = placeOf(ids[position]);
        if (table[place] != 0) {
            return false;
        }
        table[place] = position + 1;
        return true;
    }

    /** Returns where an id lies, or could. */
    private int placeOf(String id) {
        int hash = id.hashCode() * 0x9E3779B9; // spreads ids that differ in their last letters only
        int last = table.length - 1;
        int place = (hash ^ hash >>> 16) & last;
        while (table[place] != 0 && !ids[table[place] - 1].equals(id)) {
            place = (place + 1) & last;
        }
        return place;
    }

    /** Returns the position of an id, or -1. */
    int find(String id) {
        int found = table[placeOf(id)];
        return found == 0 ? NOBODY : found - 1;
    }

    /** Returns the same ids, which stay as they are. */
    Ids copy() {
        return new Ids(ids.clone(), table.clone(), size);
    }

    /** Returns the ids by their positions, with room behind them. Not to be changed. */
    String[] byPosition() {
        return ids;
    }
}
