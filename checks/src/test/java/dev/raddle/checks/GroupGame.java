package dev.raddle.checks;

import static dev.raddle.checks.GroupModel.require;

import dev.raddle.checks.GroupModel.Group;
import dev.raddle.checks.GroupModel.Rules;
import dev.raddle.checks.GroupModel.Stage;
import dev.raddle.checks.GroupModel.Task;
import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.GroupStats;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.group.TaskLifecycleListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Performs random steps on an executor and on a {@link GroupModel}, and compares the two after each step.
 *
 * <p>One thread performs all steps. Granted tasks are put into a list, and a step takes any of them and runs it. A
 * running task may perform steps itself, including running other tasks, so tasks are also cancelled, evicted and left
 * above a lowered limit while they run. Only the effects of a queue timeout occur in another thread, and the game
 * waits for them.
 */
final class GroupGame {

    private static final int DEEPEST = 3; // nested tasks

    private final Rules rules;
    private final long seed;
    private final Random random;
    private final GroupModel model;
    private final VirtualTime time = new VirtualTime();
    private final GroupExecutor executor;
    private final Map<Integer, Task> tasks = new HashMap<>();
    private final Map<Integer, TaskHandle<Integer>> handles = new HashMap<>();
    private final Map<Integer, String> events = new ConcurrentHashMap<>(); // of each task, one letter each
    private final Map<Integer, String> expectedReasons = new HashMap<>();
    private final Map<Integer, String> reasons = new ConcurrentHashMap<>();
    private final Set<Task> undecided = new HashSet<>(); // including those decided since the last comparison
    private final List<Runnable> granted = new ArrayList<>(); // not run yet
    private final List<Task> newlyGranted = new ArrayList<>(); // since the last comparison
    private final Set<Task> expectedGrants =
            new HashSet<>(); // the model says that they are granted, and they have not newlyGranted
    private final List<String> log = new ArrayList<>();
    private Task ended; // its runner has finished, and the model is not updated yet
    private int submitted;
    private int depth;
    private boolean interrupts; // the step interrupts the task that performs it

    /**
     * Creates a game. Its model uses the believed rules; a test passes other rules to see that the difference is
     * detected.
     */
    GroupGame(Rules rules, Rules believed, long seed) {
        this.rules = rules;
        this.seed = seed;
        this.random = new Random(seed);
        this.model = new GroupModel(believed);
        for (int i = 0; i < rules.keys(); i++) {
            model.limits.put("group-" + i, 1 + random.nextInt(3));
        }
        this.executor = GroupExecutor.newVirtualThreadExecutor(policy());
    }

    private GroupPolicy policy() {
        GroupPolicy.Builder policy = GroupPolicy.builder()
                .concurrencyResolver(model.limits::get)
                .defaultMaxInFlightPerGroup(rules.maxInFlight())
                .defaultQueueThresholdPerGroup(rules.queue())
                .globalQueueThreshold(rules.commonQueue())
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .idleGroupTtl(Duration.ofMillis(rules.ttlMillis()))
                .maxIdleGroups(rules.maxIdle())
                .weightResolver(key -> 1 + key.hashCode() % 3)
                .reuseThreads(rules.reuse())
                .taskLifecycleListener(new EventRecorder())
                .timeSource(time)
                .scheduler(key -> this::place);
        return rules.cap() == 0
                ? policy.build()
                : policy.globalMaxInFlight(rules.cap()).build();
    }

    /** Performs the steps and then shuts the executor down, with or without draining it first. */
    void play(int steps) {
        try {
            for (int i = 0; i < steps; i++) {
                step();
            }
            if (random.nextBoolean()) {
                drain();
            }
            shutDown();
        } catch (Throwable failure) {
            throw new AssertionError(
                    "seed " + seed + ": " + failure.getMessage() + "; the steps were\n  " + String.join("\n  ", log),
                    failure);
        }
    }

    // Steps.

    private void step() {
        int dice = random.nextInt(100);
        if (dice < 34) {
            submit();
        } else if (dice < 60) {
            run();
        } else if (dice < 68) {
            cancel();
        } else if (dice < 74) {
            advance();
        } else if (dice < 79) {
            setLimit();
        } else if (dice < 82) {
            setCap();
        } else if (dice < 85) {
            evict();
        } else if (dice < 87) {
            shutDownGroup();
        } else if (dice < 90) {
            pause();
        } else if (dice < 94) {
            resume(key());
        } else if (dice < 97) {
            tryCall();
        } else {
            note("the limit resolver returns for %s: %s", key(), 0);
            model.limits.put(key(), 1 + random.nextInt(4));
        }
    }

    private void submit() {
        Task task = newTask(key(), random.nextInt(4) == 0 ? random.nextInt(3) - 1 : 0, cost());
        Duration timeout = random.nextInt(3) == 0 ? timeout(task) : null;
        note("submit %s, priority %s, cost %s, timeout %s", task, task.priority, task.cost, timeout);
        String refusal = model.enter(task);
        if (refusal != null) {
            task.end = TaskStatus.REJECTED;
            expectedReasons.put(task.id, refusal);
        } else if (task.stage == Stage.GRANTED) {
            expectedGrants.add(task);
        } else if (timeout != null) {
            task.timesOutNanos = time.nanoTime() + timeout.toNanos();
        }
        handles.put(
                task.id,
                timeout == null && task.cost == 1 && task.priority == 0
                        ? executor.submit(task.group.key, "" + task.id, () -> call(task))
                        : executor.submit(task.group.key, spec(task, timeout)));
        undecided.add(task);
        compare();
    }

    private void tryCall() {
        Task task = newTask(key(), 0, 1);
        note("call %s", task);
        String refusal = model.enter(task);
        boolean wasGranted = task.stage == Stage.GRANTED;
        Optional<Integer> result;
        try {
            result = executor.tryCall(task.group.key, Duration.ZERO, () -> callHere(task));
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
        if (result.isPresent()) {
            require(refusal == null, task + " was called although its group is full");
            noteEnd();
        } else {
            require(!wasGranted, task + " was not called");
            model.withdraw(task);
            task.end = TaskStatus.REJECTED;
        }
        compare();
    }

    private void run() {
        if (granted.isEmpty()) {
            return;
        }
        Runnable next = granted.remove(random.nextInt(granted.size()));
        Task task = tasks.get(Integer.parseInt(((TaskHandle<?>) next).taskId()));
        note("run %s", task);
        ended = task.end == null ? null : task; // it ended before it could begin
        next.run();
        noteEnd();
        compare();
    }

    private void cancel() {
        if (submitted == 0) {
            return;
        }
        Task task = tasks.get(Math.max(0, submitted - 1 - random.nextInt(20)));
        TaskHandle<Integer> handle = handles.get(task.id);
        if (handle == null) {
            return; // a call has no handle
        }
        boolean mayInterrupt = random.nextBoolean();
        note("cancel(%s) %s", mayInterrupt, task);
        interrupts = task.stage == Stage.RUNNING && task.end == null && mayInterrupt;
        boolean expected = model.cancel(task, mayInterrupt);
        require(handle.cancel(mayInterrupt) == expected, "cancel should return " + expected + " for " + task);
        compare();
    }

    /** Advances the time, from one queue timeout to the next. */
    private void advance() {
        long end = time.nanoTime() + random.nextInt(rules.ttlMillis() * 600_000 + 4_000_000);
        note("advance to %s ns", end);
        for (Optional<Task> next; (next = nextTimeout(end)).isPresent(); ) {
            Task late = next.get();
            note("timeout of %s", late);
            advanceTo(late.timesOutNanos);
            model.withdraw(late);
            late.end = TaskStatus.REJECTED;
            expectedReasons.put(late.id, "queue-timeout");
            join(late);
            compare();
        }
        advanceTo(end);
        compare();
    }

    private Optional<Task> nextTimeout(long end) {
        return undecided.stream()
                .filter(task -> task.stage == Stage.WAITING && task.timesOutNanos <= end)
                .min((one, other) -> Long.compare(one.timesOutNanos, other.timesOutNanos));
    }

    private void advanceTo(long moment) {
        model.advanceTo(moment);
        time.advance(Duration.ofNanos(moment - time.nanoTime()));
    }

    private void setLimit() {
        String key = key();
        int limit = 1 + random.nextInt(4);
        note("limit of %s is %s", key, limit);
        model.setLimit(key, limit);
        executor.setMaxConcurrency(key, limit);
        compare();
    }

    private void setWeight() {
        String key = key();
        int weight = 1 + random.nextInt(3);
        note("weight of %s is %s", key, weight);
        model.adjust(key);
        executor.setWeight(key, weight);
        compare();
    }

    private void setCap() {
        if (rules.cap() == 0) {
            setWeight();
            return;
        }
        int cap = 1 + random.nextInt(5);
        note("cap is %s", cap);
        model.setCap(cap);
        executor.setGlobalMaxInFlight(cap);
        compare();
    }

    private void evict() {
        String key = key();
        note("evict %s", key);
        model.existing(key).ifPresent(group -> expectReason(model.evict(group), "evicted"));
        executor.evictGroup(key);
        compare();
    }

    private void shutDownGroup() {
        String key = key();
        boolean graceful = random.nextBoolean();
        note("shut down %s", key);
        Optional<Group> group = model.existing(key);
        boolean idle = group.isEmpty() || group.get().isEmpty();
        group.ifPresent(known -> interrupts = stop(known));
        if (graceful) {
            require(executor.shutdownGroup(key, Duration.ZERO) == idle, "shutdownGroup should return " + idle);
        } else {
            executor.shutdownGroup(key);
        }
        compare();
    }

    private boolean stop(Group group) {
        List<Task> before = new ArrayList<>(group.queue);
        before.addAll(group.held);
        boolean interrupted = model.stop(group);
        expectReason(before, "shutdown");
        return interrupted;
    }

    private void expectReason(List<Task> rejected, String reason) {
        rejected.stream()
                .filter(task -> task.end == TaskStatus.REJECTED)
                .forEach(task -> expectedReasons.putIfAbsent(task.id, reason));
    }

    private void pause() {
        String key = key();
        note("pause %s", key);
        model.pause(key);
        executor.pauseGroup(key);
        compare();
    }

    private void resume(String key) {
        note("resume %s", key);
        model.existing(key).ifPresent(model::resume);
        executor.resumeGroup(key);
        compare();
    }

    private void drain() {
        note("drain");
        while (model.waiting() + granted.size() > 0) {
            for (int i = 0; i < rules.keys(); i++) {
                resume("group-" + i);
            }
            require(!granted.isEmpty(), "no task runs, and no waiting task is granted");
            run();
        }
    }

    private void shutDown() {
        note("shut down");
        model.groups.values().forEach(this::stop);
        model.shutDown();
        executor.shutdown();
        compare();
        while (!granted.isEmpty()) {
            run();
        }
        require(executor.shutdown(Duration.ZERO), "the executor should have ended: " + executor);
        for (Task task : tasks.values()) {
            String letters = events.getOrDefault(task.id, "");
            require(
                    letters.matches("S(R|B?C)") || (!handles.containsKey(task.id) && letters.isEmpty()),
                    task + " had the events " + letters);
            require(
                    (task.end == TaskStatus.REJECTED) == letters.endsWith("R") || !handles.containsKey(task.id),
                    task + " had the events " + letters);
            String expected = expectedReasons.get(task.id);
            require(
                    expected == null || reasons.get(task.id).startsWith(expected + ":"),
                    task + " was rejected, " + reasons.get(task.id) + ", instead of " + expected);
        }
    }

    // Inside a task.

    private TaskSpec<Integer> spec(Task task, Duration timeout) {
        TaskSpec<Integer> spec = TaskSpec.named("" + task.id, () -> call(task))
                .priority(task.priority)
                .cost(task.cost);
        return timeout == null ? spec : spec.queueTimeout(timeout);
    }

    private int call(Task task) throws Exception {
        begin(task);
        if (random.nextInt(3) == 0 && depth < DEEPEST) {
            depth++;
            for (int i = random.nextInt(6); i > 0; i--) {
                step();
            }
            depth--;
        }
        ended = task;
        int plan = random.nextInt(8);
        decide(task, plan == 0 ? TaskStatus.FAILED : plan == 1 ? TaskStatus.CANCELLED : TaskStatus.SUCCESS);
        if (plan == 0) {
            throw new AssertionError("on purpose");
        } else if (plan == 1) {
            throw random.nextBoolean()
                    ? new InterruptedException("on purpose")
                    : new CancellationException("on purpose");
        }
        return task.id;
    }

    private int callHere(Task task) {
        begin(task);
        if (depth < DEEPEST) {
            depth++;
            step();
            depth--;
        }
        ended = task;
        decide(task, TaskStatus.SUCCESS);
        return task.id;
    }

    private static void decide(Task task, TaskStatus status) {
        if (task.end == null) {
            task.end = status;
        }
    }

    private void begin(Task task) {
        note("  %s begins", task);
        noteEnd();
        expectedGrants.remove(task);
        if (task.stage == Stage.WAITING) {
            model.grant(task); // by a task that ended before it in this thread, or for a call
        }
        model.begin(task);
        noteGrants();
    }

    private void noteEnd() {
        Task last = ended;
        ended = null;
        if (last != null && last.stage == Stage.OVER) {
            model.touch(last.group); // it had already left
        } else if (last != null) {
            note("  %s ended", last);
            model.leave(last);
        }
    }

    private void noteGrants() {
        for (Task task : newlyGranted) {
            note("  %s was granted", task);
            if (!expectedGrants.remove(task) && !model.isShutdown()) {
                model.grant(task); // a shutdown frees permits, which may be granted to a task that it rejects next
            }
        }
        newlyGranted.clear();
    }

    private void place(Runnable run) {
        granted.add(run);
        newlyGranted.add(tasks.get(Integer.parseInt(((TaskHandle<?>) run).taskId())));
    }

    // Comparing.

    private void compare() {
        require(Thread.interrupted() == interrupts, "the task should " + (interrupts ? "" : "not ") + "be interrupted");
        interrupts = false;
        noteGrants();
        require(expectedGrants.isEmpty(), expectedGrants + " should have been granted");
        model.checkThatEnoughWasGranted();
        GroupExecutorStats stats = executor.stats(); // removes idle groups
        model.sweep();
        compareGroups();
        int used = rules.cap() == 0 ? 0 : model.running();
        require(stats.totalActiveCount() == model.running(), model.running() + " permits should be held, " + stats);
        require(stats.totalQueuedCount() == model.waiting(), model.waiting() + " should wait, " + stats);
        require(stats.globalInFlightUsed() == used, used + " permits of the cap should be held, " + stats);
        compareTasks();
    }

    private void compareGroups() {
        int idle = 0;
        for (int i = 0; i < rules.keys(); i++) {
            String key = "group-" + i;
            Optional<GroupStats> stats = executor.groupStats(key);
            Optional<Group> group = model.existing(key).filter(Group::isActive);
            if (stats.isEmpty() && group.isPresent() && group.get().isIdle() && rules.maxIdle() < rules.keys()) {
                group.get().removed = true; // the limit of idle groups was reached
                continue;
            }
            idle += group.isPresent() && group.get().isIdle() ? 1 : 0;
            Optional<GroupStats> expected = group.map(known -> new GroupStats(
                    key,
                    known.running(),
                    known.queue.size(),
                    known.limit,
                    rules.queue(),
                    null,
                    null,
                    null,
                    null,
                    known.paused,
                    null));
            require(stats.equals(expected), expected + " was expected, was " + stats);
        }
        require(idle <= rules.maxIdle(), idle + " idle groups are kept");
    }

    private void compareTasks() {
        for (Task task : List.copyOf(undecided)) {
            TaskHandle<Integer> handle = handles.get(task.id);
            if (handle == null) {
                continue; // submit has not returned: the task runs inside it
            }
            require(handle.isDone() == (task.end != null), task + ": isDone() was " + handle.isDone());
            if (task.end != null) {
                GroupResult<Integer> result = handle.join();
                require(result.status() == task.end, task + " ended as " + result);
                Integer value = task.end == TaskStatus.SUCCESS ? task.id : null;
                require(Objects.equals(result.value(), value), task + " ended as " + result);
                undecided.remove(task);
            } else if (task.stage == Stage.WAITING && random.nextInt(8) == 0) {
                Explanation why = executor.explain(handle);
                require(why.waitingFor().name().equals(model.reasonToWait(task)), task + " waits for " + why);
                require(why.place() == task.group.queue.indexOf(task), task + " has the place " + why);
            }
        }
    }

    private void join(Task task) {
        GroupResult<Integer> result;
        try {
            result = handles.get(task.id).toCompletableFuture().get(120, TimeUnit.SECONDS);
        } catch (Exception failure) {
            throw new AssertionError(task + " should have timed out", failure);
        }
        require(result.status() == task.end, task + " ended as " + result);
    }

    // Random values.

    private Task newTask(String key, int priority, int cost) {
        Task task = new Task(submitted, model.group(key), priority, cost);
        tasks.put(submitted++, task);
        return task;
    }

    private String key() {
        return "group-" + random.nextInt(rules.keys());
    }

    private int cost() {
        return random.nextInt(5) == 0 ? 1 + random.nextInt(4) : 1;
    }

    private Duration timeout(Task task) {
        return Duration.ofMillis(1 + random.nextInt(20)).plusNanos(task.id); // so that no two expire at once
    }

    private void note(String format, Object... arguments) {
        log.add("  ".repeat(depth) + String.format(format, arguments));
    }

    /** Records the events of each task. */
    private final class EventRecorder implements TaskLifecycleListener {

        private void record(String id, String letter) {
            if (!id.startsWith("call-")) {
                events.merge(Integer.parseInt(id), letter, String::concat);
            }
        }

        @Override
        public void onSubmitted(String groupKey, String taskId) {
            record(taskId, "S");
        }

        @Override
        public void onStarted(String groupKey, String taskId) {
            record(taskId, "B");
        }

        @Override
        public void onCompleted(String groupKey, String taskId, GroupResult<?> result) {
            record(taskId, "C");
        }

        @Override
        public void onRejected(String groupKey, String taskId, String reason) {
            record(taskId, "R");
            if (!taskId.startsWith("call-")) {
                reasons.put(Integer.parseInt(taskId), reason);
            }
        }
    }
}
