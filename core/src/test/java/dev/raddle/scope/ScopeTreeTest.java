package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The effects of a scope on the scopes inside it, and of a task on everything that is begun in it. */
class ScopeTreeTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();

    @AfterEach
    void the_thread_is_inside_no_scope() {
        assertThat(ThreadScope.current()).isEmpty();
        assertThat(time.alarms()).isZero();
    }

    // Cancelling.

    @Test
    void cancelling_a_scope_cancels_the_scopes_inside_it_in_the_same_thread() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope outer = ThreadScope.open("outer");
                ThreadScope middle = ThreadScope.open("middle");
                ThreadScope inner = ThreadScope.open("inner")) {
            Task<String> task = inner.submit("t", blocker::call);
            blocker.awaitBegun();

            Thread.ofPlatform().start(() -> outer.cancel("enough")).join();

            assertThatThrownBy(task::await)
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("scope \"inner\" was cancelled with the enclosing scope \"outer\":"
                            + " scope \"outer\" was cancelled: enough");
            assertThat(middle.token().isCancelled()).isTrue();
            assertThat(inner.submit(() -> "never").state()).isEqualTo(Task.State.CANCELLED);
        }
        assertThat(blocker.interrupts()).isEqualTo(1);
    }

    @Test
    void cancelling_a_scope_does_not_affect_the_outer_one() throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer");
                ThreadScope inner = ThreadScope.open("inner")) {
            inner.cancel("enough");
            assertThat(outer.submit(() -> "value").await()).isEqualTo("value");
        }
    }

    @Test
    void a_scope_that_is_opened_inside_a_cancelled_one_is_cancelled() {
        try (ThreadScope outer = ThreadScope.open("outer")) {
            outer.cancel("enough");
            try (ThreadScope inner = ThreadScope.open("inner")) {
                assertThat(inner.submit(() -> "never").state()).isEqualTo(Task.State.CANCELLED);
            }
        }
    }

    @Test
    void cancelling_a_scope_cancels_the_scopes_that_its_tasks_have_opened() throws Exception {
        BlockingTask parent = BlockingTask.uninterruptible();
        BlockingTask child = new BlockingTask();
        AtomicReference<Task<String>> inTask = new AtomicReference<>();
        try (ThreadScope outer = ThreadScope.open("outer")) {
            Task<String> task = outer.submit("parent", () -> {
                try (ThreadScope inner = ThreadScope.open("inner")) {
                    inTask.set(inner.submit("child", child::call));
                    return parent.call(); // ignores its interrupt
                }
            });
            parent.awaitBegun();
            child.awaitBegun();
            outer.cancel("enough");
            assertThat(inTask.get().state()).isEqualTo(Task.State.CANCELLED);
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            parent.release();
        }
        assertThat(child.interrupts()).isEqualTo(1);
    }

    @Test
    void cancelling_a_scope_cancels_the_scopes_that_subtasks_of_a_structured_scope_in_it_have_opened()
            throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer");
                var structured = new StructuredTaskScope<Boolean>()) {
            BlockingTask blocker = new BlockingTask();
            var subtask = structured.fork(() -> {
                try (ThreadScope inner = ThreadScope.open("inner")) {
                    Task<String> task = inner.submit(blocker::call);
                    try {
                        task.await();
                        return false;
                    } catch (CancelledException expected) {
                        return true;
                    }
                }
            });
            blocker.awaitBegun();
            outer.cancel("enough");
            structured.join();
            assertThat(subtask.get()).isTrue();
        }
    }

    @Test
    void a_scope_in_a_groups_task_that_was_submitted_beside_the_scope_is_not_cancelled_with_it() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            TaskHandle<String> beside;
            try (ThreadScope outer = ThreadScope.open("outer")) {
                beside = outer.submit(() -> executor.submit("g", "beside", () -> {
                            try (ThreadScope inner = ThreadScope.open("inner")) {
                                return inner.submit(blocker::call).await();
                            }
                        }))
                        .await();
                blocker.awaitBegun();
                outer.cancel("enough");
            }
            blocker.release();
            assertThat(beside.await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
        assertThat(blocker.interrupts()).isZero();
    }

    @Test
    void a_deadline_of_the_outer_scope_that_is_set_after_the_inner_one_was_opened_ends_both() throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time);
                ThreadScope inner = ThreadScope.open("inner").withTimeSource(time)) {
            Task<String> task = inner.submit(() -> Tasks.forever());
            outer.withDeadline(SECOND);
            time.advance(SECOND);
            assertThatThrownBy(task::await).isInstanceOf(CancelledException.class);
        }
    }

    @Test
    void a_deadline_of_the_outer_scope_that_is_set_later_ends_an_inner_scope_with_a_later_deadline() throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time);
                ThreadScope inner =
                        ThreadScope.open("inner").withTimeSource(time).withDeadline(SECOND.multipliedBy(10))) {
            Task<String> task = inner.submit(() -> Tasks.forever());
            outer.withDeadline(SECOND);

            time.advance(SECOND);

            assertThat(task.isCancelled()).isTrue();
            assertThatThrownBy(task::await)
                    .isInstanceOf(CancelledException.class)
                    .hasMessageContaining("cancelled with the enclosing scope \"outer\"");
        }
    }

    @Test
    void an_inner_scope_whose_own_deadline_has_passed_with_that_of_the_outer_one_says_so() throws Exception {
        try (ThreadScope outer = ThreadScope.open("outer").withTimeSource(time);
                ThreadScope inner =
                        ThreadScope.open("inner").withTimeSource(time).withDeadline(SECOND)) {
            Task<String> task = inner.submit(() -> Tasks.forever());
            outer.withDeadline(SECOND);

            time.advance(SECOND);

            assertThatThrownBy(task::await)
                    .isInstanceOf(ScopeTimeoutException.class)
                    .hasMessageContaining("inner");
        }
    }

    @Test
    void ten_thousand_scopes_inside_each_other_are_cancelled_without_ten_thousand_frames() {
        List<ThreadScope> scopes = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            scopes.add(ThreadScope.open());
        }
        scopes.getFirst().cancel("enough");
        assertThat(scopes.getLast().token().isCancelled()).isTrue();
        scopes.reversed().forEach(ThreadScope::close);
    }

    @Test
    void an_outer_scope_does_not_keep_a_closed_inner_scope() throws Exception {
        List<java.lang.ref.WeakReference<ThreadScope>> closed = new ArrayList<>();
        try (ThreadScope outer = ThreadScope.open("outer").withDeadline(Duration.ofDays(1))) {
            for (int i = 0; i < 100; i++) {
                outer.submit(() -> {
                            try (ThreadScope inner = ThreadScope.open()) {
                                closed.add(new java.lang.ref.WeakReference<>(inner));
                            }
                            return "";
                        })
                        .await();
            }
            Retained.awaitCleared(closed);
            assertThat(outer.metrics().succeeded()).isEqualTo(100);
        }
    }

    // Closing in the wrong order.

    @Test
    void closing_a_scope_before_those_inside_it_closes_them_and_is_a_structure_violation() throws Exception {
        List<String> order = new ArrayList<>();
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope before = ThreadScope.open("before")) {
            ThreadScope outer = ThreadScope.open("outer");
            ThreadScope middle = ThreadScope.open("middle");
            ThreadScope inner = ThreadScope.open("inner");
            List.of(outer, middle, inner).forEach(each -> each.defer(() -> order.add(each.name())));
            Task<String> task = inner.submit(blocker::call);
            blocker.awaitBegun();

            assertThatThrownBy(outer::close)
                    .isInstanceOf(StructureViolationException.class)
                    .hasMessage("scopes close in the reverse order of their opening; scope \"outer\" was closed before"
                            + " scope \"inner\", scope \"middle\" inside it, which were closed as well");

            assertThat(order).containsExactly("inner", "middle", "outer");
            assertThat(task.state()).isEqualTo(Task.State.CANCELLED);
            assertThat(blocker.interrupts()).as("it has ended").isEqualTo(1);
            assertThatThrownBy(() -> inner.submit(() -> "")).isInstanceOf(IllegalStateException.class);
            assertThat(ThreadScope.current()).contains(before);
            inner.close();
            middle.close();
            outer.close();
            assertThat(ThreadScope.current()).contains(before);
            assertThat(before.submit(() -> "value").await()).isEqualTo("value");
        }
    }

    @Test
    void failures_in_scopes_closed_out_of_order_are_suppressed_in_the_violation() {
        ThreadScope outer = ThreadScope.open("outer");
        ThreadScope inner = ThreadScope.open("inner");
        inner.defer(() -> {
            throw new IllegalStateException("of the inner one");
        });
        outer.defer(() -> {
            throw new IllegalStateException("of the outer one");
        });
        assertThatThrownBy(outer::close)
                .isInstanceOf(StructureViolationException.class)
                .satisfies(violation -> assertThat(violation.getSuppressed())
                        .hasExactlyElementsOfTypes(AggregateException.class, IllegalStateException.class));
    }

    @Test
    void an_interrupt_during_a_close_in_the_wrong_order_is_kept() {
        ThreadScope outer = ThreadScope.open("outer");
        ThreadScope.open("inner");
        Thread.currentThread().interrupt();
        assertThatThrownBy(outer::close).isInstanceOf(StructureViolationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    // A task's timeout inside it.

    @Test
    void a_tasks_timeout_limits_everything_inside_it() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .timeSource(time)
                        .idleGroupTtl(Duration.ZERO)
                        .build());
                ThreadScope scope = ThreadScope.open("s").withTimeSource(time).withDeadline(SECOND.multipliedBy(10))) {
            BlockingTask blocker = new BlockingTask();
            AtomicReference<TaskHandle<String>> inGroup = new AtomicReference<>();
            AtomicReference<Task<String>> inScope = new AtomicReference<>();
            Task<String> task = scope.submit(
                    "t",
                    () -> {
                        assertThat(ThreadScope.current()).contains(scope);
                        assertThat(scope.remaining()).contains(SECOND);
                        inGroup.set(executor.submit("g", "in a group", blocker));
                        try (ThreadScope inner = ThreadScope.open("inner").withDeadline(SECOND.multipliedBy(5))) {
                            assertThat(inner.remaining()).contains(SECOND);
                            inScope.set(inner.submit("in a scope", () -> Tasks.forever()));
                            return inScope.get().await();
                        }
                    },
                    SECOND);
            Task<Optional<Duration>> untimed = scope.submit(scope::remaining);
            assertThat(untimed.await()).contains(SECOND.multipliedBy(10));
            Task<Optional<Duration>> longer = scope.submit("longer", scope::remaining, SECOND.multipliedBy(60));
            assertThat(longer.await()).contains(SECOND.multipliedBy(10));
            blocker.awaitBegun();
            Wait.until(() -> inScope.get() != null);

            time.advance(SECOND);

            assertThatThrownBy(task::await).isInstanceOf(TaskTimeoutException.class);
            assertThatThrownBy(inScope.get()::await)
                    .isInstanceOfAny(CancelledException.class, ScopeTimeoutException.class);
            GroupResult<String> result = inGroup.get().await();
            assertThat(result.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(result.error()).hasMessage("task \"in a group\" was cancelled: the time of task \"t\" is over");
            assertThat(scope.remaining()).contains(SECOND.multipliedBy(9));
        }
    }

    @Test
    void a_task_with_a_timeout_cannot_close_its_scope_either() throws Exception {
        try (ThreadScope scope = ThreadScope.open("s").withScheduler(Runnable::run)) {
            Task<String> task = scope.submit(
                    "t",
                    () -> {
                        scope.close();
                        return "";
                    },
                    SECOND);
            assertThatThrownBy(task::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("cannot be closed by one of its own tasks");
        }
    }

    // The context class loader.

    @Test
    void a_context_class_loader_that_a_task_sets_reaches_neither_its_thread_nor_its_next_attempt() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        List<ClassLoader> seen = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Runnable::run)) {
            Task<String> task = scope.submit(TaskSpec.named("t", () -> {
                        seen.add(Thread.currentThread().getContextClassLoader());
                        Thread.currentThread().setContextClassLoader(new ClassLoader("of the task", null) {});
                        if (seen.size() < 3) {
                            throw new IllegalStateException("again");
                        }
                        return "value";
                    })
                    .retry(RetryPolicy.attempts(3)));

            assertThat(task.await()).isEqualTo("value");
            assertThat(seen).containsExactly(before, before, before);
            assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void a_task_has_its_submitters_context_class_loader_and_its_thread_its_own_again_afterwards() throws Exception {
        ClassLoader mine = new ClassLoader("mine", null) {};
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        StepScheduler steps = new StepScheduler();
        List<Scheduler> schedulers = List.of(
                Scheduler.virtualThreads(),
                Scheduler.fixed(1),
                Scheduler.priority(1),
                Scheduler.commonPool(),
                Scheduler.from(ForkJoinPool.commonPool()),
                Runnable::run);
        try {
            for (Scheduler scheduler : schedulers) {
                try (ThreadScope scope = ThreadScope.open().withScheduler(scheduler)) {
                    Thread.currentThread().setContextClassLoader(mine);
                    Task<ClassLoader> seen =
                            scope.submit(() -> Thread.currentThread().getContextClassLoader());
                    ClassLoader alternative = scope.join(
                            JoinStrategy.firstSuccess(),
                            List.of(() -> Thread.currentThread().getContextClassLoader()));
                    Task<ClassLoader> later = scope.schedule(
                            Duration.ZERO, () -> Thread.currentThread().getContextClassLoader());
                    List<ClassLoader> ofRounds = new ArrayList<>();
                    var rounds = scope.scheduleAtFixedRate(Duration.ZERO, Duration.ofNanos(1), () -> {
                        ofRounds.add(Thread.currentThread().getContextClassLoader());
                        if (ofRounds.size() == 3) {
                            throw new CancelledException("enough");
                        }
                    });
                    assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(mine);
                    Thread.currentThread().setContextClassLoader(before);
                    assertThat(scope.submit(() -> Thread.currentThread().getContextClassLoader())
                                    .await())
                            .isSameAs(before);
                    assertThat(seen.await()).as("%s", scheduler).isSameAs(mine);
                    assertThat(alternative).isSameAs(mine);
                    assertThat(later.await()).isSameAs(mine);
                    assertThatThrownBy(rounds::await).isInstanceOf(CancelledException.class);
                    assertThat(ofRounds).containsOnly(mine);
                }
            }
            try (ThreadScope scope = ThreadScope.open().withScheduler(steps)) {
                Thread.currentThread().setContextClassLoader(mine);
                Task<ClassLoader> seen =
                        scope.submit(() -> Thread.currentThread().getContextClassLoader());
                Thread.currentThread().setContextClassLoader(before);
                steps.runAll();
                assertThat(seen.await()).isSameAs(mine);
                assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void a_thread_that_rejects_a_class_loader_runs_the_task_without_it_and_is_reported() throws Exception {
        List<String> reports = new ArrayList<>();
        class Refusing extends Thread {
            Refusing(Runnable run) {
                super(run);
            }

            @Override
            public void setContextClassLoader(ClassLoader loader) {
                throw new SecurityException("not here");
            }
        }
        ClassLoader mine = new ClassLoader("mine", null) {};
        FutureTask<String> block = new FutureTask<>(() -> {
            Thread.currentThread().setContextClassLoader(mine);
            try (ThreadScope scope = ThreadScope.open("s")
                    .withScheduler(task -> {
                        Thread.currentThread().setContextClassLoader(null);
                        new Refusing(task).start();
                        Thread.currentThread().setContextClassLoader(mine);
                    })
                    .withExceptionSink(dev.raddle.task.ExceptionSink.to((source, failure) -> reports.add(source)))) {
                return scope.submit(() -> "value").await();
            }
        });
        Thread thread = Thread.ofPlatform().start(block);
        thread.join();
        assertThat(block.resultNow()).isEqualTo("value");
        assertThat(reports).hasSize(1).allMatch(each -> each.startsWith("setContextClassLoader of "));
    }
}
