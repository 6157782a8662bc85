package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SubmissionTest {

    private final StepScheduler steps = new StepScheduler();
    private final List<String> events = new CopyOnWriteArrayList<>();

    private ThreadScope stepped() {
        return ThreadScope.open("s").withScheduler(steps);
    }

    /** Records its notifications. */
    private final class Told implements ThreadHook {
        @Override
        public void onStart(TaskInfo task) {
            events.add("hook: " + task.name() + " started");
        }

        @Override
        public void onSuccess(TaskInfo task, Duration ran) {
            events.add("hook: " + task.name() + " succeeded");
        }

        @Override
        public void onFailure(TaskInfo task, Throwable error, Duration ran) {
            events.add("hook: " + task.name() + " failed, " + error.getMessage());
        }

        @Override
        public void onCancel(TaskInfo task, Duration ran) {
            events.add("hook: " + task.name() + " cancelled");
        }
    }

    @Test
    void a_task_passes_its_steps_in_one_order() throws Exception {
        VirtualTime virtual = new VirtualTime();
        TimeSource time = new TimeSource() {
            @Override
            public long nanoTime() {
                return virtual.nanoTime();
            }

            @Override
            public dev.raddle.time.Alarm after(Duration delay, Runnable action) {
                events.add("timeout armed");
                return virtual.after(delay, action);
            }
        };
        List<Task<?>> itself = new ArrayList<>();
        Scheduler scheduler = task -> {
            events.add("handed to the scheduler");
            steps.execute(task);
        };
        ContextPropagator propagator = () -> {
            events.add("captured");
            return () -> {
                events.add("installed");
                return () -> events.add("restored");
            };
        };
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add("listener: submitted");
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                events.add("listener: started after " + waitNanos + ", " + ((Task<?>) task).state());
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add("listener: " + outcome.status() + " after " + runNanos);
            }
        };
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                events.add("hook: started, " + itself.getFirst().state());
            }

            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                events.add("hook: succeeded after " + ran.toNanos() + ", "
                        + itself.getFirst().state());
            }
        };
        try (ThreadScope scope = stepped()
                .withTimeSource(time)
                .withScheduler(scheduler)
                .addPropagator(propagator)
                .addListener(listener)
                .addHook(hook)
                .withConcurrencyLimit(1)) {
            itself.add(scope.submit(
                    "t",
                    () -> {
                        events.add("called");
                        virtual.advance(Duration.ofNanos(30));
                        return "value";
                    },
                    Duration.ofNanos(100)));
            Task<?> next = scope.submit("next", () -> "value");
            itself.getFirst().toCompletableFuture().thenRun(() -> events.add("waiters woken"));
            virtual.advance(Duration.ofNanos(5));

            steps.runNext();

            assertThat(next.cancel()).isTrue();
            assertThat(virtual.alarms()).isZero();
        }
        assertThat(events)
                .containsExactly(
                        "captured",
                        "timeout armed",
                        "listener: submitted",
                        "handed to the scheduler",
                        "captured",
                        "listener: submitted",
                        "listener: started after 5, PENDING",
                        "installed",
                        "hook: started, RUNNING",
                        "called",
                        "restored",
                        "hook: succeeded after 30, SUCCESS",
                        "listener: SUCCESS after 30",
                        "handed to the scheduler", // the permit was released
                        "waiters woken",
                        "listener: CANCELLED after 0");
    }

    @Test
    void after_a_wait_for_a_task_its_permit_is_free_its_hook_notified_and_its_metrics_counted() throws Exception {
        try (ThreadScope scope = ThreadScope.open()
                .withConcurrencyLimit(1)
                .withScheduler(Scheduler.fixed(2))
                .addHook(new Told())) {
            for (int i = 1; i <= 2_000; i++) {
                scope.submit("t", () -> "value").await();

                assertThat(events).containsExactly("hook: t started", "hook: t succeeded");
                assertThat(scope.metrics().succeeded()).isEqualTo(i);
                assertThat(scope.metrics().running()).isZero();
                assertThat(scope.tasks.pending.unfinished()).isEmpty();
                events.clear();
            }
        }
    }

    @Test
    void a_scope_is_configured_before_its_first_task() {
        List<Consumer<ThreadScope>> withs = List.of(
                scope -> scope.withScheduler(Scheduler.detect()),
                scope -> scope.withFailurePolicy(FailurePolicy.SUPERVISOR),
                scope -> scope.withRetryPolicy(RetryPolicy.noRetry()),
                scope -> scope.withDefaultTaskPriority(TaskPriority.LOW),
                scope -> scope.withConcurrencyLimit(3),
                scope -> scope.withDeadline(Duration.ofDays(1)),
                scope -> scope.addHook(new Told()),
                scope -> scope.addListener(new TaskListener() {}),
                scope -> scope.addPropagator(() -> () -> () -> {}),
                scope -> scope.addScopedValue(ScopedValue.newInstance()),
                scope -> scope.withExceptionSink(ExceptionSink.logging()),
                scope -> scope.withPatience(Duration.ofSeconds(1)),
                scope -> scope.withTimeSource(new VirtualTime()));
        List<String> names = List.of(
                "withScheduler",
                "withFailurePolicy",
                "withRetryPolicy",
                "withDefaultTaskPriority",
                "withConcurrencyLimit",
                "withDeadline",
                "addHook",
                "addListener",
                "addPropagator",
                "addScopedValue",
                "withExceptionSink",
                "withPatience",
                "withTimeSource");
        List<Consumer<ThreadScope>> firsts = List.of(
                scope -> scope.submit(() -> "first"),
                scope -> scope.schedule(Duration.ofDays(1), () -> "first"),
                scope -> scope.scheduleAtFixedRate(Duration.ofDays(1), Duration.ofDays(1), () -> {}),
                scope -> scope.scheduleWithFixedDelay(Duration.ofDays(1), Duration.ofDays(1), () -> {}));
        for (Consumer<ThreadScope> first : firsts) {
            try (ThreadScope scope = ThreadScope.open("s").withTimeSource(new VirtualTime())) {
                first.accept(scope);
                for (int i = 0; i < withs.size(); i++) {
                    Consumer<ThreadScope> with = withs.get(i);
                    assertThatIllegalStateException()
                            .isThrownBy(() -> with.accept(scope))
                            .withMessage(names.get(i)
                                    + " of scope \"s\" came too late; call it before the first submit or schedule");
                }
            }
        }
    }

    @Test
    void invalid_arguments_are_rejected_with_the_value_found() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadScope.open("s").withConcurrencyLimit(0))
                .withMessage("concurrency limit must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadScope.open("s").withPatience(Duration.ofSeconds(-1)))
                .withMessage("patience of scope \"s\" must be positive, was PT-1S");
        assertThatNullPointerException().isThrownBy(() -> ThreadScope.open("s").addHook(null));
        assertThatNullPointerException().isThrownBy(() -> ThreadScope.open("s").withDeadline(null));
        try (ThreadScope scope = ThreadScope.open("s")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.submit("t", () -> "", Duration.ZERO))
                    .withMessage("timeout of task \"t\" must be positive, was PT0S");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.scheduleAtFixedRate(Duration.ZERO, Duration.ZERO, () -> {}))
                    .withMessage("period of a job must be positive, was PT0S");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.openChannel(0))
                    .withMessage("capacity of a channel must be at least 1, was 0");
            assertThatNullPointerException().isThrownBy(() -> scope.submit(null, () -> ""));
            assertThatNullPointerException().isThrownBy(() -> scope.defer(null));
            assertThat(scope.withPatience(Duration.ofSeconds(1)).metrics().submitted())
                    .as("none of these was a task")
                    .isZero();
        }
    }

    @Test
    void a_closed_scope_rejects_every_submission() {
        ThreadScope scope = ThreadScope.open("page");
        scope.close();

        List<Consumer<ThreadScope>> late = List.of(
                closed -> closed.submit(() -> ""),
                closed -> closed.submit("t", () -> ""),
                closed -> closed.submit(TaskSpec.named("t", () -> "")),
                closed -> closed.schedule(Duration.ZERO, () -> ""),
                closed -> closed.scheduleAtFixedRate(Duration.ZERO, Duration.ofSeconds(1), () -> {}),
                closed -> closed.defer(() -> {}),
                closed -> closed.openChannel(1),
                closed -> closed.withConcurrencyLimit(1));
        for (Consumer<ThreadScope> each : late) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> each.accept(scope))
                    .withMessageStartingWith("scope \"page\" is closed, ");
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> scope.join(JoinStrategy.firstSuccess(), List.of(() -> "")))
                .withMessageStartingWith("scope \"page\" is closed, ");
        assertThat(scope.metrics().submitted()).isZero();
    }

    @Test
    void names_and_numbers_are_generated_unless_given() {
        Set<Long> scopes = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            try (ThreadScope scope = ThreadScope.open().withScheduler(steps)) {
                assertThat(scopes.add(scope.id())).isTrue();
                assertThat(scope.name()).isEqualTo("scope-" + scope.id());
                Task<String> one = scope.submit(() -> "");
                Task<String> two = scope.submit("mine", () -> "");
                Task<String> three = scope.submit(TaskSpec.named("plan", () -> ""));
                assertThat(List.of(one.id(), two.id(), three.id())).containsExactly(1L, 2L, 3L);
                assertThat(one.name()).isEqualTo("task-1");
                assertThat(two.name()).isEqualTo("mine");
                assertThat(three.name()).isEqualTo("plan");
                assertThat(two.owner()).isEqualTo(scope.name());
                steps.runAll();
            }
        }
    }

    @Test
    void ids_are_unique_for_all_submitters() throws Exception {
        Set<Long> ids = java.util.concurrent.ConcurrentHashMap.newKeySet();
        try (ThreadScope scope = ThreadScope.open()) {
            List<Task<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                tasks.add(scope.submit(() -> {
                    for (int k = 0; k < 20; k++) {
                        ids.add(scope.submit(() -> "").id());
                    }
                    return 20;
                }));
            }
            scope.awaitAll(tasks);
            tasks.forEach(task -> ids.add(task.id()));
        }
        assertThat(ids).hasSize(50 * 21);
    }

    @Test
    void a_hook_of_two_scopes_never_confuses_their_tasks() {
        List<TaskInfo> started = new ArrayList<>();
        List<TaskInfo> ended = new ArrayList<>();
        ThreadHook shared = new ThreadHook() {
            @Override
            public void onStart(TaskInfo task) {
                started.add(task);
            }

            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                ended.add(task);
            }
        };
        try (ThreadScope one = stepped().addHook(shared);
                ThreadScope other = stepped().addHook(shared)) {
            one.submit(() -> "");
            other.submit(() -> "");
            one.submit(() -> "");
            steps.runAll();

            assertThat(started)
                    .extracting(TaskInfo::scopeId, TaskInfo::taskId, TaskInfo::name)
                    .containsExactly(
                            org.assertj.core.groups.Tuple.tuple(one.id(), 1L, "task-1"),
                            org.assertj.core.groups.Tuple.tuple(other.id(), 1L, "task-1"),
                            org.assertj.core.groups.Tuple.tuple(one.id(), 2L, "task-2"));
            assertThat(new HashSet<>(started)).hasSize(3);
            assertThat(ended).isEqualTo(started);
            assertThat(started.getFirst().schedulerName()).startsWith("step scheduler");
        }
    }

    @Test
    void a_task_that_the_scheduler_rejects_has_failed_with_the_rejection_and_holds_no_permit() {
        RejectedExecutionException refusal = new RejectedExecutionException("full");
        AtomicInteger refused = new AtomicInteger();
        Scheduler scheduler = task -> {
            if (refused.getAndIncrement() < 2) {
                throw refusal;
            }
            steps.execute(task);
        };
        try (ThreadScope scope =
                stepped().withScheduler(scheduler).withConcurrencyLimit(1).addHook(new Told())) {
            Task<String> first = scope.submit("first", () -> "never");
            Task<String> second = scope.submit("second", () -> "never");
            Task<String> third = scope.submit("third", () -> "value");

            assertThat(first.outcome()).contains(new Outcome.Failure<>(refusal));
            assertThat(second.state()).isEqualTo(Task.State.FAILED);
            assertThatThrownBy(first::await).isSameAs(refusal);
            assertThat(third.state()).isEqualTo(Task.State.PENDING);
            steps.runAll();
            assertThat(third.state()).isEqualTo(Task.State.SUCCESS);
            assertThat(events)
                    .containsExactly(
                            "hook: first failed, full",
                            "hook: second failed, full",
                            "hook: third started",
                            "hook: third succeeded");
            assertThat(scope.metrics().failedBeforeStart()).isEqualTo(2);
            assertThat(scope.metrics().started()).isEqualTo(1);
        }
    }

    @Test
    void every_exception_of_a_scheduler_settles_the_task_and_passes_its_permit_to_the_next() {
        OutOfMemoryError noThread = new OutOfMemoryError("no thread");
        AtomicInteger placed = new AtomicInteger();
        Scheduler scheduler = task -> {
            int now = placed.getAndIncrement();
            if (now == 0) {
                steps.execute(task);
            } else {
                throw noThread;
            }
        };
        try (ThreadScope scope = stepped().withScheduler(scheduler).withConcurrencyLimit(1)) {
            List<Task<String>> tasks = new ArrayList<>();
            for (int i = 0; i < 20_000; i++) { // each is rejected while the previous one releases its permit
                tasks.add(scope.submit(() -> "value"));
            }
            steps.runAll();

            assertThat(tasks.removeFirst().state()).isEqualTo(Task.State.SUCCESS);
            assertThat(tasks).allMatch(Task::isFailed);
            assertThat(tasks.getLast().outcome()).contains(new Outcome.Failure<>(noThread));
        }
    }

    @Test
    void a_scheduler_that_runs_a_task_and_throws_as_well_changes_nothing() throws Exception {
        Scheduler runsAndThrows = task -> {
            task.run();
            throw new IllegalStateException("from the scheduler");
        };
        Scheduler keepsAndThrows = task -> {
            steps.execute(task);
            throw new IllegalStateException("from the scheduler");
        };
        try (ThreadScope scope = ThreadScope.open().withScheduler(runsAndThrows).withConcurrencyLimit(1)) {
            assertThat(scope.submit(() -> "value").await()).isEqualTo("value");
            assertThat(scope.submit(() -> "value").await()).isEqualTo("value");
            assertThat(scope.metrics().succeeded()).isEqualTo(2);
        }
        AtomicInteger calls = new AtomicInteger();
        try (ThreadScope scope =
                ThreadScope.open().withScheduler(keepsAndThrows).withConcurrencyLimit(1)) {
            Task<Integer> task = scope.submit(calls::incrementAndGet);
            assertThat(task.state()).isEqualTo(Task.State.FAILED);
            steps.runAll();
            assertThat(calls).hasValue(0);
            assertThat(scope.tasks.pending.unfinished()).isEmpty();
        }
    }

    @Test
    void no_more_tasks_run_than_the_limit_and_the_others_wait_without_a_thread() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        AtomicInteger placed = new AtomicInteger();
        Scheduler counting = task -> {
            placed.incrementAndGet();
            Scheduler.virtualThreads().execute(task);
        };
        CountDownLatch letGo = new CountDownLatch(1);
        CountDownLatch three = new CountDownLatch(3);
        try (ThreadScope scope = ThreadScope.open().withScheduler(counting).withConcurrencyLimit(3)) {
            List<Task<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                tasks.add(scope.submit(() -> {
                    int now = inside.incrementAndGet();
                    peak.accumulateAndGet(now, Math::max);
                    three.countDown();
                    letGo.await();
                    Thread.yield();
                    inside.decrementAndGet();
                    return now;
                }));
            }
            three.await();
            assertThat(placed).as("placed while three run").hasValue(3);
            letGo.countDown();
            scope.awaitAll(tasks);
        }
        assertThat(peak).hasValue(3);
        assertThat(placed).hasValue(500);
    }

    @Test
    void tasks_waiting_for_the_limit_start_by_priority_and_then_in_order() {
        List<String> ran = new ArrayList<>();
        try (ThreadScope scope = stepped().withConcurrencyLimit(1).withDefaultTaskPriority(TaskPriority.LOW)) {
            scope.submit("first", () -> ran.add("first"));
            scope.submit("low", () -> ran.add("low"));
            scope.submit(TaskSpec.named("normal", () -> ran.add("normal")).priority(TaskPriority.NORMAL));
            scope.submit(TaskSpec.named("high", () -> ran.add("high")).priority(TaskPriority.HIGH));
            scope.submit(TaskSpec.named("high too", () -> ran.add("high too")).priority(TaskPriority.HIGH));
            scope.submit("low too", () -> ran.add("low too"));
            steps.runAll();
        }
        assertThat(ran).containsExactly("first", "high", "high too", "normal", "low", "low too");
    }

    @Test
    void a_task_may_submit_to_its_own_full_scope_and_a_wait_that_could_never_end_is_an_error() throws Exception {
        try (ThreadScope scope = ThreadScope.open("s").withConcurrencyLimit(1)) {
            Task<Task<String>> parent = scope.submit("parent", () -> scope.submit("child", () -> "value"));
            assertThat(parent.await().await()).isEqualTo("value");

            Task<String> hopeless = scope.submit(
                    "hopeless", () -> scope.submit("never", () -> "").await());
            assertThatThrownBy(hopeless::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("task \"never\" in scope \"s\" would never begin: 1 of 1 running, and each of these"
                            + " waits for another task of the scope; raise the limit, use another scope, or do"
                            + " not wait");

            Task<ScopeResult> hopelessToo =
                    scope.submit("hopeless too", () -> scope.await(scope.submit("never", () -> "")));
            assertThatThrownBy(hopelessToo::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would never begin");

            Task<String> hopelessJoin = scope.submit(
                    "hopeless join",
                    () -> scope.join(JoinStrategy.firstSuccess(), List.<Callable<String>>of(() -> "never")));
            assertThatThrownBy(hopelessJoin::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would never begin");
            assertThat(scope.submit(() -> "still of use").await()).isEqualTo("still of use");
        }
    }

    @Test
    void the_owner_may_wait_for_a_task_of_its_full_scope() throws Exception {
        try (ThreadScope scope = ThreadScope.open().withConcurrencyLimit(1)) {
            BlockingTask blocker = new BlockingTask();
            Task<String> first = scope.submit(blocker::call);
            Task<String> second = scope.submit(() -> first.await() + ", too");
            blocker.awaitBegun();
            blocker.release();

            assertThat(second.await()).isEqualTo("value, too");
        }
    }

    @Test
    void tasks_may_end_in_any_order() throws Exception {
        int count = 30_000;
        List<Runnable> placed = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open().withScheduler(placed::add)) {
            List<Task<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int value = i;
                tasks.add(scope.submit(() -> value));
            }

            placed.reversed().forEach(Runnable::run);

            assertThat(scope.tasks.pending.unfinished()).isEmpty();
            List<Integer> values = scope.awaitAll(tasks);
            assertThat(values.getFirst()).isZero();
            assertThat(values.getLast()).isEqualTo(count - 1);
            assertThat(scope.metrics().succeeded()).isEqualTo(count);
        }
    }

    @Test
    void a_task_submits_to_its_scope_also_while_the_owner_closes() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        List<Task<?>> late = new CopyOnWriteArrayList<>();
        AtomicInteger calls = new AtomicInteger();
        Task<Integer> generations;
        try (ThreadScope scope = ThreadScope.open("s")) {
            generations = scope.submit(() -> {
                int born = 0;
                for (Task<Task<Integer>> task = scope.submit(() -> scope.submit(() -> 1)); born < 3; born++) {
                    assertThat(task.await().await()).isEqualTo(1);
                }
                return born;
            });
            assertThat(generations.await()).isEqualTo(3);
            scope.token().whenCancelled(closing::countDown);
            CountDownLatch begun = new CountDownLatch(1);
            scope.submit(() -> {
                begun.countDown();
                awaitThroughInterrupts(closing);
                late.add(scope.submit(calls::incrementAndGet));
                late.add(scope.schedule(Duration.ZERO, calls::incrementAndGet));
                late.add(scope.scheduleAtFixedRate(Duration.ZERO, Duration.ofNanos(1), calls::incrementAndGet));
                return "";
            });
            begun.await();
        }
        assertThat(late).hasSize(3).allMatch(Task::isCancelled);
        assertThat(calls).hasValue(0);
        assertThatThrownBy(late.getFirst()::await)
                .isInstanceOf(CancelledException.class)
                .hasMessage("scope \"s\" was closed");
    }

    private static void awaitThroughInterrupts(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException wanted) {
                // ignores the interrupt until the latch is open
            }
        }
    }

    @Test
    void a_task_that_is_submitted_after_the_cancel_is_cancelled_and_its_callable_never_runs() {
        AtomicInteger calls = new AtomicInteger();
        try (ThreadScope scope = stepped().addHook(new Told()).withConcurrencyLimit(1)) {
            scope.submit("before", calls::incrementAndGet);
            scope.token().cancel("not wanted");

            Task<Integer> late = scope.submit("late", calls::incrementAndGet);

            assertThat(late.state()).isEqualTo(Task.State.CANCELLED);
            assertThat(scope.tasks.pending.unfinished()).isEmpty();
            steps.runAll();
            assertThat(calls).hasValue(0);
            assertThat(events).containsExactly("hook: before cancelled", "hook: late cancelled");
            assertThat(scope.metrics().submitted()).isEqualTo(2);
            assertThat(scope.metrics().cancelledBeforeStart()).isEqualTo(2);
            assertThat(scope.token().isCancelled()).isTrue();
            assertThatThrownBy(scope.token()::throwIfCancelled)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("scope \"s\" was cancelled: not wanted");
        }
    }

    @Test
    void an_action_of_the_token_runs_once_and_what_it_throws_goes_to_the_sink() {
        List<String> swallowed = new ArrayList<>();
        ExceptionSink sink = ExceptionSink.to((source, error) -> swallowed.add(source + ": " + error.getMessage()));
        try (ThreadScope scope = stepped().withExceptionSink(sink)) {
            scope.token().whenCancelled(() -> {
                throw new AssertionError("from the action");
            });
            scope.token().whenCancelled(() -> events.add("first"));
            scope.cancel("enough");
            scope.cancel("again");
            scope.token().whenCancelled(() -> events.add("late"));
        }
        assertThat(events).containsExactly("first", "late");
        assertThat(swallowed).containsExactly("action of a cancellation token in scope \"s\": from the action");
    }
}
