package dev.raddle.console;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskHandle;
import dev.raddle.group.TaskStats;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/** Names for tasks, which stay the same as long as the task exists. */
final class TaskRefs {

    /** The largest numbers of running and waiting tasks of a group that are listed. */
    static final int MOST_RUNNING = 100;

    static final int MOST_WAITING = 100;

    /** Two computations of one moment may differ by so much: it is the difference of two clocks. */
    private static final long JITTER_MILLIS = 100;

    /** A task. The moment is guarded by the refs. */
    private static final class Ref {
        final String name;
        long sinceAt = Long.MIN_VALUE;

        Ref(String name) {
            this.name = name;
        }
    }

    private final Map<TaskHandle<?>, Ref> refs = new WeakHashMap<>(); // guarded by this
    private long count; // guarded by this

    private Ref ref(TaskHandle<?> handle) {
        return refs.computeIfAbsent(handle, made -> new Ref("t" + ++count));
    }

    synchronized String nameOf(TaskStats task) {
        return ref(task.handle()).name;
    }

    /** Returns when a task began, or was submitted if it has not begun; the same at each call. */
    synchronized @Nullable Long sinceAt(TaskStats task, long now) {
        if (task.since() == null) {
            return null;
        }
        Ref ref = ref(task.handle());
        long at = now - task.since().toMillis();
        if (Math.abs(at - ref.sinceAt) > JITTER_MILLIS) {
            ref.sinceAt = at;
        }
        return ref.sinceAt;
    }

    /** Returns a task as findings and lists show it. */
    Finding.Task rowOf(TaskStats task, Groups.Id group, long now) {
        String name = Failures.cut(task.handle().taskId());
        return new Finding.Task(name, group.executor(), group.key(), nameOf(task), sinceAt(task, now), task.slots());
    }

    /** Returns all running tasks of a group, and the first waiting ones. */
    static List<TaskStats> tasks(GroupExecutor executor, String key) {
        int running = executor.groupStats(key).map(GroupStats::activeCount).orElse(0);
        return executor.tasks(key, running + MOST_WAITING);
    }

    /** Returns the task that a client has named, if it has not ended. */
    TaskStats find(GroupExecutor executor, String key, String name) {
        for (TaskStats task : tasks(executor, key)) {
            if (nameOf(task).equals(name)) {
                return task;
            }
        }
        throw new Refusal(404, "the task has ended");
    }
}
