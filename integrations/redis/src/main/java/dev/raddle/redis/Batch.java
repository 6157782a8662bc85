package dev.raddle.redis;

import java.util.ArrayList;
import java.util.List;

/** The operations of one call, in the order in which the script must execute them. */
final class Batch {

    static final int MOST = 2000;
    static final int FEWEST = 50;
    private static final String NO_NUMBER = "0";

    private final List<String> restored = new ArrayList<>();
    private final List<String> returned = new ArrayList<>();
    private final List<String> wanted = new ArrayList<>();
    private final int operations;
    private boolean isSync;
    private boolean isLeave;

    /**
     * Creates an empty batch.
     *
     * @param operations the number of operations that fill it
     */
    Batch(int operations) {
        this.operations = operations;
    }

    /** Returns whether enough has been gathered for one call; the rest waits for the next. */
    boolean isFull() {
        return restored.size() + returned.size() + wanted.size() >= 4 * operations;
    }

    void restore(String field, String value) {
        add(restored, "f", field, value, NO_NUMBER);
    }

    /** Sets what has no entry yet. */
    void resolve(String field, String value) {
        add(restored, "n", field, value, NO_NUMBER);
    }

    void reassert(String group, int permits) {
        add(restored, "k", group, "" + permits, NO_NUMBER);
    }

    void giveBack(String group, int permits, int unused) {
        add(returned, "r", group, "" + permits, "" + unused);
    }

    /** Adds tickets, and lets all tickets of the group be for so many permits each. */
    void acquire(String group, int tickets, int size) {
        add(wanted, "a", group, "" + tickets, "" + size);
    }

    void cancel(String group, int tickets) {
        add(wanted, "c", group, "" + tickets, NO_NUMBER);
    }

    void ask(String group, boolean holders) {
        add(wanted, holders ? "q" : "y", group, NO_NUMBER, NO_NUMBER);
    }

    void sync() {
        isSync = true;
    }

    void leave() {
        isLeave = true;
    }

    private static void add(List<String> list, String operation, String group, String first, String second) {
        list.add(operation);
        list.add(group);
        list.add(first);
        list.add(second);
    }

    String[] arguments(List<String> header) {
        List<String> all = new ArrayList<>(header);
        all.addAll(returned); // first, so that waiting instances get what is returned
        all.addAll(restored);
        all.addAll(wanted);
        if (isSync) {
            add(all, "s", "", NO_NUMBER, NO_NUMBER);
        }
        if (isLeave) {
            add(all, "l", "", NO_NUMBER, NO_NUMBER);
        }
        return all.toArray(String[]::new);
    }
}
