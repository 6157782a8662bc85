package dev.raddle.console;

import dev.raddle.group.TaskStats;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The tasks that run now in all groups, and where in the code they are. */
final class Running {

    /*
     * Overview.
     *
     * Of the tasks that are read, at most MOST_READ, the stacks of those that have run for longest are taken. Tasks
     * with equal stacks are one row, whatever their groups: when a callee or a lock keeps tasks of many groups, it is
     * the first row. A thread that waits for a lock of java.util.concurrent says which object that is; if all tasks of
     * a row wait for the same one, the row names it. One that waits for a monitor says no more than that it is blocked,
     * unless it is a platform thread.
     */

    private static final int MOST_READ = 5_000;
    private static final int MOST_STACKS = 100;
    private static final int SHOWN_TASKS = 5; // of a row

    /** A task of a row. */
    record Task(
            String name,
            String executor,
            String key,
            String ref,
            @Nullable Long sinceAt) {}

    /**
     * Tasks with one stack.
     *
     * @param sinceAt when the first of them began
     * @param groups the number of their groups
     * @param tasks the first of them
     * @param lock the object for which all of them wait
     * @param owner the task, or else the thread, that has it
     */
    record Row(
            int count,
            int groups,
            @Nullable Long sinceAt,
            List<Task> tasks,
            String stack,
            @Nullable String lock,
            @Nullable String owner) {}

    /**
     * What the page shows.
     *
     * @param total the number of tasks that run
     * @param looked the number of them whose stacks were taken
     */
    record Rows(int total, int looked, List<String> order, Map<String, Row> rows) {}

    private record Found(Task task, Thread thread) {}

    private final Groups groups;
    private final TaskRefs refs;

    Running(Groups groups, TaskRefs refs) {
        this.groups = groups;
        this.refs = refs;
    }

    Rows rows(View view, long now) {
        List<Found> all = read(view, now);
        Map<String, List<Found>> byStack = new LinkedHashMap<>();
        int looked = 0;
        for (Found each : all) {
            if (looked < MOST_STACKS) {
                StackTraceElement[] stack = each.thread.getStackTrace();
                if (stack.length > 0) { // it has not ended meanwhile
                    looked++;
                    byStack.computeIfAbsent(Failures.textOf(List.of(stack)), made -> new ArrayList<>())
                            .add(each);
                }
            }
        }
        Map<String, Row> rows = new LinkedHashMap<>();
        byStack.forEach((stack, found) -> rows.put(found.getFirst().task.ref, row(stack, found, all)));
        return new Rows(all.size(), looked, List.copyOf(rows.keySet()), rows);
    }

    /** Returns the running tasks, the longest first. */
    private List<Found> read(View view, long now) {
        List<Found> all = new ArrayList<>();
        for (Groups.Member member : groups.members()) {
            int most = Math.min(member.stats().activeCount(), MOST_READ - all.size());
            Groups.Id id = member.id();
            if (most > 0 && view.admits(id.key(), id.executor())) {
                for (TaskStats task : member.executor().tasks(id.key(), most)) {
                    Thread thread = task.thread();
                    if (thread != null) {
                        all.add(new Found(taskOf(task, id.executor(), id.key(), now), thread));
                    }
                }
            }
        }
        all.sort(Comparator.comparing(each -> each.task.sinceAt, Comparator.nullsLast(Comparator.naturalOrder())));
        return all;
    }

    private Task taskOf(TaskStats task, String executor, String key, long now) {
        return new Task(task.handle().taskId(), executor, key, refs.nameOf(task), refs.sinceAt(task, now));
    }

    private Row row(String stack, List<Found> found, List<Found> all) {
        Locks.Wait wait = found.size() < 2
                ? null
                : Locks.commonOf(found.stream().map(Found::thread).toList());
        return new Row(
                found.size(),
                (int) found.stream()
                        .map(each -> List.of(each.task.executor, each.task.key))
                        .distinct()
                        .count(),
                found.getFirst().task.sinceAt,
                found.stream().limit(SHOWN_TASKS).map(Found::task).toList(),
                stack,
                wait == null ? null : wait.lock(),
                wait == null || wait.ownerId() == 0 ? null : ownerOf(wait, all));
    }

    private static String ownerOf(Locks.Wait wait, List<Found> all) {
        for (Found each : all) {
            if (each.thread.threadId() == wait.ownerId()) {
                return "task \"" + each.task.name + "\" of group \"" + each.task.key + "\"";
            }
        }
        return "thread \"" + wait.ownerName() + "\"";
    }
}
