package dev.raddle.spring;

import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Collects the names of the tasks that a shutdown interrupts or rejects. Costs nothing until there is one. */
final class UnfinishedTasks implements TaskListener {

    private static final int MOST = 100;

    private volatile @Nullable Queue<String> names; // null unless a shutdown is in progress

    /** Returns the names of the tasks that end without having finished during an action. */
    List<String> collect(Runnable shutdown) {
        Queue<String> collected = new ConcurrentLinkedQueue<>();
        names = collected;
        try {
            shutdown.run();
        } finally {
            names = null;
        }
        List<String> all = new ArrayList<>(collected);
        return all.size() <= MOST ? all : withoutRest(all);
    }

    private static List<String> withoutRest(List<String> all) {
        List<String> some = new ArrayList<>(all.subList(0, MOST));
        some.add("and " + (all.size() - MOST) + " more");
        return some;
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        Queue<String> collected = names;
        if (collected == null) {
            return;
        }
        String name = task.owner() + "/" + task.name();
        if (outcome instanceof Outcome.Rejected<?>) {
            collected.add(name + " (not started)");
        } else if (outcome instanceof Outcome.Cancelled<?>) {
            collected.add(name + " (interrupted)");
        }
    }
}
