package dev.raddle.kernel;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Detects a deadlock at the cap: all tasks that hold its slots wait for tasks that cannot run without a slot.
 *
 * @param gates the gates that share the cap
 * @param cap the cap
 * @param awaitedRuns the map from each thread that waits without a timeout to the run that it waits for
 */
public record CapDeadlockDetector(
        Collection<? extends TaskGate> gates, FairCap cap, Map<Thread, TaskRun<?>> awaitedRuns) {

    /*
     * Overview.
     *
     * The gates are visited one after the other, and never two of them are locked at once. So all runs that hold slots
     * are listed twice, each with its thread and the run that this thread awaits. If both lists are equal, all entries
     * were true at the moment between the two passes, because a run holds slots only once in its lifetime. If the
     * listed runs took all slots of the cap at that moment, and each awaited a run that had not ended, then none of
     * them could ever go on.
     *
     * The search ends at the first run that may go on; most searches visit one run.
     */

    private static final int MAX_GATES = 1024;

    private record Held(TaskRun<?> run, Thread runner, TaskRun<?> awaited) {}

    /**
     * Returns whether the wait of a thread can never end.
     *
     * @param waiter the thread, which is in the map
     * @return true if all slots of the cap are held by tasks that wait for tasks which cannot run
     */
    public boolean isDeadlocked(Thread waiter) {
        List<Held> before = heldRuns();
        return before != null
                && before.stream().anyMatch(each -> each.runner == waiter)
                && before.stream().allMatch(each -> isSubjectToLimits(each.awaited))
                && before.equals(heldRuns());
    }

    private boolean isSubjectToLimits(TaskRun<?> awaited) {
        return gates.stream().anyMatch(gate -> gate.isSubjectToLimits(awaited));
    }

    private @Nullable List<Held> heldRuns() {
        List<Held> all = new ArrayList<>();
        int visited = 0;
        int slots = 0;
        for (TaskGate gate : gates) {
            int before = all.size();
            if (++visited > MAX_GATES || !addHeld(gate, all)) {
                return null;
            }
            for (Held each : all.subList(before, all.size())) {
                slots += each.run.taken();
            }
        }
        return slots == cap.used() && slots >= cap.max() ? all : null;
    }

    /** Adds the runs that hold slots at a gate to a list; returns false if one of them may go on. */
    private boolean addHeld(TaskGate gate, List<Held> all) {
        return gate.locked(() -> !gate.anyHeld(permit -> !addIfWaiting((TaskRun<?>) permit, all)));
    }

    /** Adds a run that holds slots to a list if its thread awaits a run; returns false if the run may go on. */
    private boolean addIfWaiting(TaskRun<?> run, List<Held> all) {
        Thread runner = run.runnerThread();
        TaskRun<?> awaited = runner == null ? null : awaitedRuns.get(runner);
        if (runner == null || awaited == null || awaited.isDecided() || run.isTimeBounded()) {
            return false;
        }
        all.add(new Held(run, runner, awaited));
        return true;
    }
}
