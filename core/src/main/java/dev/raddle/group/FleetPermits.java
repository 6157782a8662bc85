package dev.raddle.group;

import dev.raddle.kernel.Permit;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The permits that a {@link PermitSource} has granted to one group and not taken back. Guarded by the group's lock. */
final class FleetPermits {

    /*
     * Overview.
     *
     * A permit of the source is granted ─► free ⇄ held ─► taken back; one for a single task goes from held to spent
     * instead, and is taken back from there. Each of them is an object from its grant on, which is linked into the list
     * of free ones, or, through the map, to the task that holds it. The map is large enough for all permits, so only
     * `add` allocates memory. A task may hold several, or none if all of its permits were revoked.
     */

    /** One permit of the source. */
    private static final class Granted {
        final long fence;
        final boolean isForOneTask;
        boolean used;

        @Nullable
        Granted next; // in the list of free ones, or of the same task

        Granted(long fence, boolean isForOneTask) {
            this.fence = fence;
            this.isForOneTask = isForOneTask;
        }
    }

    private static final int SMALLEST_MAP = 2;

    private @Nullable Granted firstFree; // the one that is used next
    private @Nullable Granted lastFree;
    private int free;
    private int held;
    private int spent;
    private IdentityHashMap<Permit, Granted> byTask =
            new IdentityHashMap<>(SMALLEST_MAP); // to the first of its permits
    private int capacity = SMALLEST_MAP; // of the map

    /** Returns the number of permits that no task uses and that a task may use. */
    int free() {
        return free;
    }

    /** Returns the number of permits that tasks use. */
    int held() {
        return held;
    }

    /** Returns the number of permits for one task whose task has ended. */
    int spent() {
        return spent;
    }

    int total() {
        return free + held + spent;
    }

    /** Adds a permit. Has no effect if it throws. */
    void add(long fence, boolean isForOneTask) {
        Granted granted = new Granted(fence, isForOneTask);
        if (free + held >= capacity) {
            IdentityHashMap<Permit, Granted> larger = new IdentityHashMap<>(2 * capacity);
            larger.putAll(byTask);
            byTask = larger;
            capacity *= 2;
        }
        append(granted);
    }

    /** Removes the permit that was added last, which no task has received since. */
    void undoAdd() {
        Granted before = null;
        for (Granted each = firstFree; each != null && each != lastFree; each = each.next) {
            before = each;
        }
        if (before == null) {
            firstFree = null;
        } else {
            before.next = null;
        }
        lastFree = before;
        free--;
    }

    private void append(Granted granted) {
        if (lastFree == null) {
            firstFree = granted;
        } else {
            lastFree.next = granted;
        }
        lastFree = granted;
        free++;
    }

    private Granted removeFree() {
        Granted first = firstFree;
        if (first == null) {
            throw new AssertionError("no permit of the source is free");
        }
        firstFree = first.next;
        if (firstFree == null) {
            lastFree = null;
        }
        first.next = null;
        free--;
        return first;
    }

    /** Gives free permits, of which there are enough, to a task. Allocates nothing. */
    void take(Permit task, int count) {
        Granted all = null;
        for (int i = 0; i < count; i++) {
            Granted granted = removeFree();
            granted.used = true;
            granted.next = all;
            all = granted;
        }
        if (all != null) {
            byTask.put(task, all);
        }
        held += count;
    }

    /** Takes the permits of a task that has ended. Allocates nothing. */
    void giveBack(Permit task) {
        Granted granted = byTask.remove(task);
        while (granted != null) {
            Granted next = granted.next;
            granted.next = null;
            held--;
            if (granted.isForOneTask) {
                spent++;
            } else {
                append(granted);
            }
            granted = next;
        }
    }

    /** Returns the largest fencing number of a task's permits; empty if it has none. */
    OptionalLong fenceOf(Permit task) {
        Granted granted = byTask.get(task);
        if (granted == null) {
            return OptionalLong.empty();
        }
        long largest = granted.fence;
        for (Granted other = granted.next; other != null; other = other.next) {
            largest = Math.max(largest, other.fence);
        }
        return OptionalLong.of(largest);
    }

    /** Removes spent permits first, then free ones, which are at least as many as the rest. */
    PermitSource.Reclaimed reclaim(int count) {
        int gone = Math.min(count, spent);
        int used = gone;
        for (int i = gone; i < count; i++) {
            used += removeFree().used ? 1 : 0;
        }
        spent -= gone;
        return new PermitSource.Reclaimed(count - used, used);
    }

    /**
     * Removes free permits first, then spent ones, then those of tasks.
     *
     * @param count the number of permits, at most all
     * @param newestFirst the tasks, in the order in which they lose permits
     * @return the tasks that have lost at least one
     */
    List<Permit> revoke(int count, List<Permit> newestFirst) {
        List<Permit> losing = new ArrayList<>(Math.min(count, newestFirst.size())); // before the first change
        int left = count;
        for (; left > 0 && free > 0; left--) {
            removeFree();
        }
        int gone = Math.min(left, spent);
        spent -= gone;
        left -= gone;
        for (int i = 0; i < newestFirst.size() && left > 0; i++) {
            Permit task = newestFirst.get(i);
            Granted granted = byTask.get(task);
            if (granted != null) {
                losing.add(task);
            }
            for (; granted != null && left > 0; left--) {
                granted = granted.next;
                held--;
            }
            replace(task, granted);
        }
        return losing;
    }

    private void replace(Permit task, @Nullable Granted rest) {
        if (rest == null) {
            byTask.remove(task);
        } else {
            byTask.put(task, rest);
        }
    }

    /** Returns whether the map contains the tasks that hold permits and no others, for tests. */
    boolean isConsistent() {
        int linked = 0;
        for (Map.Entry<Permit, Granted> entry : byTask.entrySet()) {
            for (Granted each = entry.getValue(); each != null; each = each.next) {
                linked++;
            }
        }
        int listed = 0;
        for (Granted each = firstFree; each != null; each = each.next) {
            listed++;
        }
        return linked == held && listed == free;
    }
}
