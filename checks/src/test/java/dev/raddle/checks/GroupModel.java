package dev.raddle.checks;

import dev.raddle.task.TaskStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A simple model of a group executor for one thread: lists that are searched.
 *
 * <p>It predicts the effect of each step, with one exception: under a global cap several groups may be next, and
 * fairness decides between them. So the model receives the actual grants, and checks that each was allowed and, after
 * every step, that no permitted grant is missing.
 */
final class GroupModel {

    /**
     * The rules of an executor.
     *
     * @param keys the number of groups
     * @param cap the global cap, or 0 if there is none
     * @param commonQueue the maximum number of waiting tasks in all groups
     * @param maxInFlight the bulkhead of each group
     * @param queue the maximum number of waiting tasks in a group
     * @param ttlMillis the time for which an idle group is kept
     * @param maxIdle the maximum number of idle groups that are kept
     * @param reuse whether a thread runs several tasks of a group
     */
    record Rules(
            int keys,
            int cap,
            int commonQueue,
            int maxInFlight,
            int queue,
            int ttlMillis,
            int maxIdle,
            boolean reuse) {}

    enum Stage {
        WAITING,
        GRANTED,
        RUNNING,
        OVER
    }

    static final class Group {
        final String key;
        final List<Task> queue = new ArrayList<>(); // in the order of grants
        final List<Task> held = new ArrayList<>();
        boolean known;
        int limit;
        boolean paused;
        boolean adjusted;
        boolean removed;
        long idleSinceMillis;

        Group(String key) {
            this.key = key;
        }

        boolean isEmpty() {
            return queue.isEmpty() && held.isEmpty();
        }

        boolean isKept() {
            return paused || adjusted;
        }

        boolean isActive() {
            return known || isKept();
        }

        boolean isIdle() {
            return isEmpty() && known && !isKept();
        }

        int running() {
            return held.stream().mapToInt(task -> task.taken).sum();
        }
    }

    static final class Task {
        final int id;
        final Group group;
        final int priority;
        final int cost;
        Stage stage = Stage.OVER;
        int taken;
        long timesOutNanos = Long.MAX_VALUE;
        TaskStatus end; // null until it is decided

        Task(int id, Group group, int priority, int cost) {
            this.id = id;
            this.group = group;
            this.priority = priority;
            this.cost = cost;
        }

        @Override
        public String toString() {
            return "task " + id + " of " + group.key + (stage == Stage.OVER ? ", " + end : ", " + stage);
        }
    }

    final Map<String, Integer> limits = new HashMap<>(); // what the limit resolver returns now
    final Map<String, Group> groups = new HashMap<>();
    private final Rules rules;
    private int cap;
    private boolean shutdown;
    private long nowMillis;

    GroupModel(Rules rules) {
        this.rules = rules;
        this.cap = rules.cap() == 0 ? Integer.MAX_VALUE : rules.cap();
    }

    // Time and lookups.

    void advanceTo(long nanos) {
        nowMillis = Math.floorDiv(nanos, 1_000_000);
    }

    Group group(String key) {
        Group group = groups.get(key);
        if (group == null || group.removed) {
            group = new Group(key);
            groups.put(key, group);
        }
        return group;
    }

    Optional<Group> existing(String key) {
        return Optional.ofNullable(groups.get(key)).filter(group -> !group.removed);
    }

    private boolean lookUp(Group group) {
        if (group.known) {
            return false;
        }
        group.known = true;
        group.limit = limits.get(group.key);
        return true;
    }

    // Steps.

    /** Enters a task into its group; returns the reason for its rejection, or null if it was admitted. */
    String enter(Task task) {
        Group group = task.group;
        boolean lookedUp = lookUp(group);
        String refusal = null;
        if (isFirst(task) && mayPassTheCap(task) && fits(task)) {
            hold(task);
        } else {
            refusal = refusal(task);
            if (refusal == null) {
                enqueue(task);
            }
        }
        if (lookedUp) {
            touch(group);
        }
        return refusal;
    }

    private String refusal(Task task) {
        Group group = task.group;
        if (group.queue.size() >= rules.queue()) {
            Task first = group.queue.isEmpty() ? task : group.queue.getFirst();
            boolean byBulkhead = rules.maxInFlight() < group.limit && !group.paused && !fitsGroup(first);
            return byBulkhead ? "bulkhead" : "group-queue";
        }
        return waiting() >= rules.commonQueue() ? "global-queue" : null;
    }

    private void enqueue(Task task) {
        List<Task> queue = task.group.queue;
        int place = queue.size();
        while (place > 0 && queue.get(place - 1).priority < task.priority) {
            place--;
        }
        queue.add(place, task);
        task.stage = Stage.WAITING;
    }

    private void hold(Task task) {
        task.taken = width(task);
        task.group.held.add(task);
        task.stage = Stage.GRANTED;
    }

    /** Records the grant of a waiting task, and checks that it was allowed. */
    void grant(Task task) {
        require(task.stage == Stage.WAITING, task + " was granted");
        require(!task.group.paused, task + " was granted in a paused group");
        require(task.group.queue.getFirst() == task, task + " was granted before " + task.group.queue.getFirst());
        require(fits(task), task + " was granted beyond a limit");
        task.group.queue.remove(task);
        hold(task);
    }

    void begin(Task task) {
        require(task.stage == Stage.GRANTED && task.end == null, task + " began");
        task.stage = Stage.RUNNING;
    }

    /** Records that the runner of a granted task has finished. */
    void leave(Task task) {
        task.group.held.remove(task);
        task.stage = Stage.OVER;
        touch(task.group);
    }

    boolean withdraw(Task task) {
        if (task.stage != Stage.WAITING) {
            return false;
        }
        task.group.queue.remove(task);
        task.stage = Stage.OVER;
        touch(task.group);
        return true;
    }

    boolean cancel(Task task, boolean mayInterrupt) {
        if (task.end != null || (task.stage == Stage.RUNNING && !mayInterrupt)) {
            return false;
        }
        withdraw(task);
        task.end = TaskStatus.CANCELLED;
        return true;
    }

    /** Empties the queue and discards the limits; returns the tasks that waited. */
    List<Task> evict(Group group) {
        List<Task> waited = List.copyOf(group.queue);
        for (Task task : waited) {
            task.stage = Stage.OVER;
            task.end = TaskStatus.REJECTED;
        }
        group.queue.clear();
        group.known = false;
        group.adjusted = false;
        group.paused = false;
        touch(group);
        return waited;
    }

    /** Evicts the group and rejects tasks that have not begun; returns whether a running task is interrupted. */
    boolean stop(Group group) {
        evict(group);
        boolean interrupts = false;
        for (Task task : List.copyOf(group.held)) {
            interrupts |= task.stage == Stage.RUNNING && task.end == null;
            if (task.stage == Stage.GRANTED && task.end == null) {
                task.end = TaskStatus.REJECTED;
                leave(task);
            }
        }
        return interrupts;
    }

    Group adjust(String key) {
        Group group = group(key);
        lookUp(group);
        group.adjusted = true;
        return group;
    }

    void setLimit(String key, int limit) {
        adjust(key).limit = limit;
    }

    void setCap(int slots) {
        cap = slots;
    }

    void pause(String key) {
        Group group = group(key);
        lookUp(group);
        group.paused = true;
    }

    void resume(Group group) {
        group.paused = false;
        touch(group);
    }

    void shutDown() {
        shutdown = true;
        groups.values().forEach(group -> {
            stop(group);
            touch(group);
        });
    }

    boolean isShutdown() {
        return shutdown;
    }

    // Idleness.

    /** Updates the idle state of a group that may have become empty. */
    void touch(Group group) {
        if (!group.isEmpty() || group.removed) {
            return;
        }
        if (shutdown || !group.isActive()) {
            group.removed = true;
        } else if (!group.isKept()) {
            group.idleSinceMillis = nowMillis;
            group.removed = rules.ttlMillis() == 0 || rules.maxIdle() == 0;
        }
    }

    /** Removes every group whose idle time has expired. */
    void sweep() {
        for (Group group : groups.values()) {
            group.removed |= group.isIdle() && nowMillis - group.idleSinceMillis >= rules.ttlMillis();
        }
        groups.values().removeIf(group -> group.removed);
    }

    // Limits.

    private boolean isFirst(Task task) {
        return task.group.queue.isEmpty() || task.priority > task.group.queue.getFirst().priority;
    }

    /** Returns whether no group waits for the cap, so that a new task would not overtake one. */
    private boolean mayPassTheCap(Task task) {
        return cap == Integer.MAX_VALUE || groups.values().stream().noneMatch(this::isReady);
    }

    private boolean isReady(Group group) {
        return !group.queue.isEmpty() && fitsGroup(group.queue.getFirst());
    }

    private boolean fits(Task task) {
        return fitsGroup(task) && fitsCap(task);
    }

    private boolean fitsGroup(Task task) {
        Group group = task.group;
        return !group.paused && group.known && group.running() + width(task) <= slots(group);
    }

    private boolean fitsCap(Task task) {
        return running() + (long) width(task) <= cap;
    }

    private int width(Task task) {
        return Math.min(task.cost, Math.min(slots(task.group), cap));
    }

    private int slots(Group group) {
        return Math.min(group.limit, rules.maxInFlight());
    }

    int running() {
        return groups.values().stream().mapToInt(Group::running).sum();
    }

    int waiting() {
        return groups.values().stream().mapToInt(group -> group.queue.size()).sum();
    }

    /**
     * Checks that no task waits although its permits are free. Under a cap, a task that needs more permits than are
     * free may keep the others waiting, so that it is not overtaken for ever.
     */
    void checkThatEnoughWasGranted() {
        List<Task> next = groups.values().stream()
                .filter(this::isReady)
                .map(group -> group.queue.getFirst())
                .toList();
        require(
                next.isEmpty() || next.stream().anyMatch(task -> !fitsCap(task)),
                next + " wait although permits are free");
    }

    /** Returns the reason why a task waits, as {@code explain} names it. */
    String reasonToWait(Task task) {
        Group group = task.group;
        if (group.paused) {
            return "PAUSED";
        }
        return isReady(group) && group.queue.indexOf(task) < slots(group) - group.running()
                ? "GLOBAL_CAP"
                : rules.maxInFlight() < group.limit ? "BULKHEAD" : "GROUP_LIMIT";
    }

    static void require(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
