package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.TaskRun;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Detects a deadlock at the cap: all tasks that hold its slots wait for tasks that cannot run without a slot. */
final class CapDeadlockDetector {

    /*
     * Overview.
     *
     * The groups are visited one after the other, and never two of them are locked at once. So all runs that hold slots
     * are listed twice, each with its thread and the run that this thread awaits. If both lists are equal, all entries
     * were true at the moment between the two passes, because a run holds slots only once in its lifetime. If the
     * listed runs took all slots of the cap at that moment, and each awaited a run that had not ended, then none of
     * them could ever go on.
     *
     * The search ends at the first run that may go on; most searches visit one run.
     */

    private static final int MAX_GROUPS = 1024;

    record Held(GroupRun<?> run, Thread runner, GroupRun<?> awaited) {}

    private final Collection<Group> groups;
    private final FairCap cap;
    private final Map<Thread, TaskRun<?>> awaitedRuns;

    CapDeadlockDetector(Collection<Group> groups, FairCap cap, Map<Thread, TaskRun<?>> awaitedRuns) {
        this.groups = groups;
        this.cap = cap;
        this.awaitedRuns = awaitedRuns;
    }

    /** Returns whether the wait of a thread, which is in the map, can never end. */
    boolean isDeadlocked(Thread waiter) {
        List<Held> before = heldRuns();
        return before != null
                && before.stream().anyMatch(each -> each.runner == waiter)
                && before.stream().allMatch(each -> each.awaited.group().isSubjectToLimits(each.awaited))
                && before.equals(heldRuns());
    }

    private @Nullable List<Held> heldRuns() {
        List<Held> all = new ArrayList<>();
        int visited = 0;
        int slots = 0;
        for (Group group : groups) {
            int before = all.size();
            if (++visited > MAX_GROUPS || !group.addHeldTo(this, all)) {
                return null;
            }
            for (Held each : all.subList(before, all.size())) {
                slots += each.run.slots();
            }
        }
        return slots == cap.used() && slots >= cap.max() ? all : null;
    }

    /** Adds a run that holds slots to a list if its thread awaits a run; returns false if the run may go on. */
    boolean addIfWaiting(GroupRun<?> run, List<Held> all) {
        Thread runner = run.runner();
        TaskRun<?> awaited = runner == null ? null : awaitedRuns.get(runner);
        if (runner == null || run.isTimeBounded() || !(awaited instanceof GroupRun<?> waitedFor)) {
            return false;
        }
        all.add(new Held(run, runner, waitedFor));
        return true;
    }
}
