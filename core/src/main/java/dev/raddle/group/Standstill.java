package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.TaskRun;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds that a cap is full of tasks that all wait for tasks which the cap keeps from running. */
final class Standstill {

    /*
     * Overview.
     *
     * Groups are looked at one after the other, never two under lock at once. So all held runs are listed twice, each with its
     * thread and with what that thread waits for. If both lists are equal, there was a moment between them in which all of it
     * was so, for a run is held once in its life. If the runs of the list took all slots of the cap at that moment, and each
     * waited for a run that had not ended, none of them could ever change that by itself.
     *
     * The first run that is found to go on ends the search; most searches see one run.
     */

    private static final int MOST_GROUPS = 1024;

    record Held(GroupRun<?> run, Thread runner, GroupRun<?> awaited) {}

    private final Collection<Group> groups;
    private final FairCap cap;
    private final Map<Thread, TaskRun<?>> waits;

    Standstill(Collection<Group> groups, FairCap cap, Map<Thread, TaskRun<?>> waits) {
        this.groups = groups;
        this.cap = cap;
        this.waits = waits;
    }

    /** Tells whether the wait of a thread, which is in the map, will never end. */
    boolean includes(Thread waiter) {
        List<Held> before = held();
        return before != null
                && before.stream().anyMatch(each -> each.runner == waiter)
                && before.stream().allMatch(each -> each.awaited.group().keepsBack(each.awaited))
                && before.equals(held());
    }

    private @Nullable List<Held> held() {
        List<Held> all = new ArrayList<>();
        int looked = 0;
        int slots = 0;
        for (Group group : groups) {
            int before = all.size();
            if (++looked > MOST_GROUPS || !group.addHeldTo(this, all)) {
                return null;
            }
            for (Held each : all.subList(before, all.size())) {
                slots += each.run.slots();
            }
        }
        return slots == cap.used() && slots >= cap.max() ? all : null;
    }

    /** Adds a held run to a list, if its thread waits for a run; false if the run may go on. */
    boolean add(GroupRun<?> run, List<Held> all) {
        Thread runner = run.runner();
        TaskRun<?> awaited = runner == null ? null : waits.get(runner);
        if (runner == null || run.comesToAnEnd() || !(awaited instanceof GroupRun<?> waitedFor)) {
            return false;
        }
        all.add(new Held(run, runner, waitedFor));
        return true;
    }
}
