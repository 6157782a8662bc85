package dev.raddle.spring;

import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one executor that have not ended, for their names. A shutdown interrupts and rejects tasks after its
 * deadline only, so what ends without a value after that moment, and what does not end at all, is not finished.
 */
final class UnfinishedTasks implements TaskListener {

    private static final int MOST = 100;

    /** A shutdown in progress. */
    private record Shutdown(Deadline deadline, Queue<String> names) {}

    private final Set<TaskIdentity> unsettled = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Shutdown shutdown;

    /**
     * Shuts the executor down and returns the names of the tasks that have not finished.
     *
     * @param deadline the end of the time in which tasks may finish, by the clock of the executor
     * @param action shuts down, and returns whether all tasks have ended in time
     */
    List<String> collect(Deadline deadline, BooleanSupplier action) {
        Shutdown current = new Shutdown(deadline, new ConcurrentLinkedQueue<>());
        shutdown = current;
        if (action.getAsBoolean()) {
            return List.of();
        }
        unsettled.forEach(task -> current.names().add(nameOf(task) + " (still running)"));
        return withoutRest(List.copyOf(current.names()));
    }

    /** Returns some of many names, and how many more there are. */
    static List<String> withoutRest(List<String> all) {
        if (all.size() <= MOST) {
            return all;
        }
        List<String> some = new ArrayList<>(all.subList(0, MOST));
        some.add("and " + (all.size() - MOST) + " more");
        return some;
    }

    private static String nameOf(TaskIdentity task) {
        return task.owner() + "/" + task.name();
    }

    @Override
    public void onSubmitted(TaskIdentity task) {
        unsettled.add(task);
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        if (!unsettled.remove(task)) {
            return;
        }
        Shutdown current = shutdown;
        if (current == null
                || outcome instanceof Outcome.Success<?>
                || current.deadline().remaining().isPositive()) {
            return;
        }
        String end = outcome instanceof Outcome.Rejected<?> ? " (not started)" : " (interrupted)";
        current.names().add(nameOf(task) + end);
    }
}
