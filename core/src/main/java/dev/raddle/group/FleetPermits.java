package dev.raddle.group;

import dev.raddle.kernel.Permit;
import java.util.ArrayDeque;
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
     * instead, and is taken back from there. Each of them is an object from its grant on, which is in the queue of
     * free ones, or, through the map, linked to the task that holds it. A permit that is revoked while a task holds it
     * stays linked to the task until that ends: it is held no more, but the task keeps its number. A task may hold
     * several.
     */

    /** One permit of the source. */
    private static final class Granted {
        final long fence;
        final boolean isForOneTask;
        boolean used;

        @Nullable
        String loss; // the reason, if it was revoked while a task held it

        @Nullable
        Granted next; // of the same task

        Granted(long fence, boolean isForOneTask) {
            this.fence = fence;
            this.isForOneTask = isForOneTask;
        }
    }

    private final ArrayDeque<Granted> free = new ArrayDeque<>(2); // the first is used next
    private int held;
    private int spent;
    private int lost; // linked to tasks, but revoked
    private final IdentityHashMap<Permit, Granted> byTask = new IdentityHashMap<>(2); // to the first of its permits

    /** Returns the number of permits that no task uses and that a task may use. */
    int free() {
        return free.size();
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
        return free.size() + held + spent;
    }

    /** Adds a permit. */
    void add(long fence, boolean isForOneTask) {
        free.add(new Granted(fence, isForOneTask));
    }

    /** Gives free permits, of which there are enough, to a task. */
    void take(Permit task, int count) {
        Granted all = null;
        for (int i = 0; i < count; i++) {
            Granted granted = free.remove();
            granted.used = true;
            granted.next = all;
            all = granted;
        }
        if (all != null) {
            byTask.put(task, all);
        }
        held += count;
    }

    /** Takes the permits of a task that has ended. */
    void giveBack(Permit task) {
        Granted granted = byTask.remove(task);
        while (granted != null) {
            Granted next = granted.next;
            granted.next = null;
            if (granted.loss != null) {
                lost--;
            } else {
                held--;
                if (granted.isForOneTask) {
                    spent++;
                } else {
                    free.add(granted);
                }
            }
            granted = next;
        }
    }

    /** Returns the reason for which a task has lost a permit, or null if it has all that it was granted. */
    @Nullable
    String lossOf(Permit task) {
        Granted granted = byTask.get(task);
        while (granted != null && granted.loss == null) {
            granted = granted.next;
        }
        return granted == null ? null : granted.loss;
    }

    /** Returns the largest fencing number of the permits that a task was granted; empty if it was granted none. */
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
            used += free.remove().used ? 1 : 0;
        }
        spent -= gone;
        return new PermitSource.Reclaimed(count - used, used);
    }

    /**
     * Removes free permits first, then spent ones, then those of tasks.
     *
     * @param count the number of permits, at most all
     * @param newestFirst the tasks, in the order in which they lose permits
     * @param reason the reason of the loss
     * @return the tasks that have lost at least one
     */
    List<Permit> revoke(int count, List<Permit> newestFirst, String reason) {
        List<Permit> losing = new ArrayList<>();
        int left = count;
        for (; left > 0 && !free.isEmpty(); left--) {
            free.remove();
        }
        int gone = Math.min(left, spent);
        spent -= gone;
        left -= gone;
        for (int i = 0; i < newestFirst.size() && left > 0; i++) {
            Permit task = newestFirst.get(i);
            int taken = lose(task, left, reason);
            if (taken > 0) {
                losing.add(task);
            }
            left -= taken;
        }
        return losing;
    }

    private int lose(Permit task, int most, String reason) {
        int taken = 0;
        for (Granted each = byTask.get(task); each != null && taken < most; each = each.next) {
            if (each.loss == null) {
                each.loss = reason;
                taken++;
            }
        }
        held -= taken;
        lost += taken;
        return taken;
    }

    /** Returns whether the map contains the permits of tasks and no others, for tests. */
    boolean isConsistent() {
        int linked = 0;
        for (Map.Entry<Permit, Granted> entry : byTask.entrySet()) {
            for (Granted each = entry.getValue(); each != null; each = each.next) {
                linked++;
            }
        }
        return linked == held + lost;
    }
}
