package dev.raddle.console;

import static dev.raddle.console.Finding.counted;
import static dev.raddle.console.Finding.name;
import static dev.raddle.console.Finding.since;

import dev.raddle.console.Finding.Draft;
import dev.raddle.console.Finding.Level;
import dev.raddle.console.Finding.Task;
import dev.raddle.group.TaskStats;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The tasks that run now in all groups, and where in the code they are. */
final class Running {

    /*
     * Overview.
     *
     * Of the tasks that are read, a bounded number, the stacks of those that have run for longest are taken. Tasks
     * with equal stacks are one row, whatever their groups: when a callee or a lock keeps tasks of many groups, it is
     * the first row. A thread that waits for a lock of java.util.concurrent says which object that is; if all tasks of
     * a row wait for the same one, the row names it. One that waits for a monitor says no more than that it is blocked,
     * unless it is a platform thread.
     */

    private static final int MOST_READ = 5_000;
    static final int MOST_READ_FOR_FINDINGS = 500;
    private static final int MOST_STACKS = 100;
    private static final int SHOWN_TASKS = 5; // of a row; of a group for findings
    private static final long LONG = 1_000; // milliseconds for which tasks of a finding have run

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
        List<Found> all = read(id -> view.admits(id.key(), id.executor()), MOST_READ, MOST_READ, now);
        Map<String, Row> rows = new LinkedHashMap<>();
        int looked = 0;
        for (Map.Entry<Stack, List<Found>> each : byStack(all).entrySet()) {
            List<Found> equal = each.getValue();
            rows.put(equal.getFirst().task.ref(), row(each.getKey(), equal, all));
            looked += equal.size();
        }
        return new Rows(all.size(), looked, List.copyOf(rows.keySet()), rows);
    }

    /** Returns running tasks, the longest first; if there are too many, those of the groups that wait longest. */
    private List<Found> read(Predicate<Groups.Id> shown, int mostOfGroup, int most, long now) {
        Largest<Groups.Member> busy = new Largest<>(most, Groups.SHORTEST_WAIT_FIRST);
        for (Groups.Member member : groups.members()) {
            if (member.stats().activeCount() > 0 && shown.test(member.id())) {
                busy.add(member);
            }
        }
        List<Found> all = new ArrayList<>();
        for (Groups.Member member : busy.descending()) {
            int left = Math.min(
                    most - all.size(), Math.min(mostOfGroup, member.stats().activeCount()));
            if (left == 0) {
                break;
            }
            for (TaskStats task : member.executor().tasks(member.id().key(), left)) {
                if (task.thread() != null) {
                    all.add(new Found(refs.rowOf(task, member.id(), now), task.thread()));
                }
            }
        }
        all.sort(Comparator.comparing(each -> each.task.sinceAt(), Comparator.nullsLast(Comparator.naturalOrder())));
        return all;
    }

    /** Takes the stacks of the first tasks, without those that have ended meanwhile. */
    private static Map<Stack, List<Found>> byStack(List<Found> all) {
        Map<Stack, List<Found>> byStack = new LinkedHashMap<>();
        for (Found each : all.subList(0, Math.min(MOST_STACKS, all.size()))) {
            Stack stack = Stack.of(each.thread);
            if (!stack.frames().isEmpty()) {
                byStack.computeIfAbsent(stack, _ -> new ArrayList<>()).add(each);
            }
        }
        return byStack;
    }

    private static int groupsOf(List<Found> equal) {
        return (int) equal.stream().map(each -> each.task.link()).distinct().count();
    }

    private static Row row(Stack stack, List<Found> equal, List<Found> all) {
        Locks.Wait wait = equal.size() < 2
                ? null
                : Locks.commonOf(equal.stream().map(Found::thread).toList());
        return new Row(
                equal.size(),
                groupsOf(equal),
                equal.getFirst().task.sinceAt(),
                equal.stream().limit(SHOWN_TASKS).map(Found::task).toList(),
                stack.text(),
                wait == null ? null : wait.lock(),
                wait == null || wait.ownerId() == 0 ? null : ownerOf(wait, all));
    }

    private static String ownerOf(Locks.Wait wait, List<Found> all) {
        for (Found each : all) {
            if (each.thread.threadId() == wait.ownerId()) {
                return "task \"" + each.task.name() + "\" of group \"" + each.task.key() + "\"";
            }
        }
        return "thread \"" + wait.ownerName() + "\"";
    }

    /** Returns the running tasks of an executor, the longest first; of more than the largest number only so many. */
    List<Task> of(String executor, long now) {
        Predicate<Groups.Id> isOfIt = id -> id.executor().equals(executor);
        List<Found> all = read(isOfIt, MOST_READ_FOR_FINDINGS, MOST_READ_FOR_FINDINGS, now);
        return all.stream().map(Found::task).toList();
    }

    /** Adds the places in which tasks wait for a lock. */
    void findLocks(long now, Findings found) {
        List<Found> all = read(_ -> true, SHOWN_TASKS, MOST_READ_FOR_FINDINGS, now);
        all.removeIf(each -> each.task.sinceAt() == null || now - each.task.sinceAt() < LONG);
        Map<Stack, List<Found>> byStack = byStack(all);
        byStack.forEach((stack, equal) -> {
            if (equal.size() > 1 && stack.waitsForLock()) {
                found.add(ofLock(stack, equal, byStack));
            }
        });
    }

    /** Describes tasks that wait for one lock. The JVM does not say who holds it; who is inside the method may. */
    private static Finding ofLock(Stack stack, List<Found> equal, Map<Stack, List<Found>> all) {
        Task first = equal.getFirst().task;
        String place = stack.placeText();
        Draft draft = new Draft("lock", Level.slow, place, first.sinceAt(), first.link());
        draft.say("{} of {} wait", counted(equal.size(), "task"), counted(groupsOf(equal), "group"));
        draft.say(" for a lock in {}, {} of {}", place, name(first.name(), first.link()), nameOfGroup(first));
        draft.say(" for {}.", since(first.sinceAt()));
        for (Map.Entry<Stack, List<Found>> each : all.entrySet()) {
            if (!each.getKey().waitsForLock() && each.getKey().isInsidePlaceOf(stack)) {
                Task owner = each.getValue().getFirst().task;
                draft.say(" {} of {} is", name(owner.name(), owner.link()), nameOfGroup(owner));
                draft.say(" inside the same method, for {}, and may hold it.", since(owner.sinceAt()));
                break;
            }
        }
        List<Task> tasks = equal.stream().map(Found::task).limit(SHOWN_TASKS).toList();
        return draft.tasks(tasks, stack.text()).done();
    }

    private static Object nameOfGroup(Task task) {
        return name(task.key(), task.link());
    }
}
