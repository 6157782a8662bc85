package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReuseThreadsTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
    private static final ThreadLocal<String> LOCAL = new ThreadLocal<>();

    private final StepScheduler steps = new StepScheduler();

    private static GroupPolicy.Builder reuses() {
        return GroupPolicy.builder().reuseThreads(true).closeTimeout(Duration.ZERO);
    }

    @Test
    void a_thread_that_has_run_a_task_runs_the_waiting_tasks_of_its_group() throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        List<TaskHandle<Thread>> waiting = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().build())) {
            executor.submit("a", "first", blocker);
            for (int i = 0; i < 200; i++) {
                waiting.add(executor.submit("a", "t" + i, Thread::currentThread));
            }
            blocker.awaitBegun();
            blocker.release();

            for (TaskHandle<Thread> handle : waiting) {
                assertThat(handle.await().value()).isSameAs(blocker.thread());
            }
            assertThat(blocker.thread().isVirtual()).isTrue();
            assertThat(executor.awaitIdle("a", Duration.ofDays(1))).isTrue();
        }
    }

    @Test
    void without_reuse_every_task_has_a_thread_of_its_own() throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                reuses().reuseThreads(false).build())) {
            executor.submit("a", "first", blocker);
            TaskHandle<Thread> second = executor.submit("a", "second", Thread::currentThread);
            TaskHandle<Thread> third = executor.submit("a", "third", Thread::currentThread);
            blocker.release();

            assertThat(second.await().value())
                    .isNotSameAs(blocker.thread())
                    .isNotSameAs(third.await().value());
        }
    }

    @Test
    void a_thread_that_has_run_a_task_never_runs_one_of_another_group() throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                reuses().globalMaxInFlight(1).build())) {
            executor.submit("a", "first", blocker);
            TaskHandle<Thread> other = executor.submit("b", "t", Thread::currentThread);
            TaskHandle<Thread> own = executor.submit("a", "t", Thread::currentThread);
            blocker.release();

            assertThat(other.await().value()).isNotSameAs(blocker.thread());
            assertThat(own.await().status()).isEqualTo(TaskStatus.SUCCESS);
        }
    }

    @Test
    void if_several_tasks_are_granted_one_reuses_the_thread_and_the_others_get_new_threads() {
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().scheduler(key -> steps)
                .defaultMaxConcurrencyPerGroup(2)
                .build())) {
            executor.submit("a", TaskSpec.named("wide", () -> ran.add("wide")).cost(2));
            executor.submit("a", "t1", () -> ran.add("t1"));
            executor.submit("a", "t2", () -> ran.add("t2"));

            steps.runNext();

            assertThat(ran).as("t1 reused the thread of the wide one").containsExactly("wide", "t1");
            assertThat(steps.size()).isEqualTo(1);
            steps.runAll();
            assertThat(ran).containsExactly("wide", "t1", "t2");
        }
    }

    @Test
    void a_waiting_call_is_run_by_its_caller_and_not_by_a_reused_thread() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().build())) {
            executor.submit("a", "first", blocker);
            FutureTask<Thread> caller = new FutureTask<>(() -> executor.call("a", Thread::currentThread));
            Thread thread = Thread.ofPlatform().start(caller);
            Wait.until(() -> executor.stats().totalQueuedCount() >= 1);
            TaskHandle<Thread> behind = executor.submit("a", "behind", Thread::currentThread);
            blocker.release();

            assertThat(caller.get()).isSameAs(thread);
            assertThat(behind.await().value())
                    .as("a caller's thread does not run the tasks of others")
                    .isNotSameAs(thread);
        }
    }

    @Test
    void a_granted_task_that_is_cancelled_before_it_begins_is_skipped_by_the_reused_thread()
            throws InterruptedException {
        List<TaskHandle<String>> handles = new ArrayList<>();
        TaskLifecycleListener cancelsTheNext = new TaskLifecycleListener() {
            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                if (id.equals("first")) {
                    handles.get(1).cancel(true); // it is granted, and this thread would run it next
                }
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().scheduler(key -> steps)
                .taskLifecycleListener(cancelsTheNext)
                .build())) {
            for (String id : List.of("first", "second", "third")) {
                handles.add(executor.submit("a", id, () -> id));
            }

            steps.runNext();

            assertThat(handles.get(1).await().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(handles.get(2).await().value()).isEqualTo("third");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void interrupt_status_and_context_are_not_visible_to_the_next_task_and_thread_locals_are()
            throws InterruptedException {
        BlockingTask blocker = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().build())) {
            executor.submit("a", "first", blocker);
            List<TaskHandle<Boolean>> handles = new ArrayList<>();
            TaskContext.current()
                    .with(TENANT, "of one task")
                    .run(() -> handles.add(executor.submit("a", "t1", () -> {
                        LOCAL.set("left behind by " + TaskContext.current().get(TENANT));
                        Thread.currentThread().interrupt();
                        return true;
                    })));
            TaskHandle<List<String>> next = executor.submit("a", "t2", () -> {
                List<String> seen = new ArrayList<>();
                seen.add(TaskContext.current().get(TENANT));
                seen.add("interrupted " + Thread.currentThread().isInterrupted());
                seen.add(LOCAL.get());
                return seen;
            });
            blocker.release();

            assertThat(handles.getFirst().await().value()).isTrue();
            assertThat(next.await().value()).containsExactly(null, "interrupted false", "left behind by of one task");
        }
    }

    @Test
    void the_interrupt_of_a_cancelled_task_that_still_runs_does_not_reach_the_next_task() throws InterruptedException {
        BlockingTask stubborn = BlockingTask.uninterruptible();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(reuses().build())) {
            TaskHandle<String> cancelled = executor.submit("a", "t1", stubborn);
            TaskHandle<Boolean> next =
                    executor.submit("a", "t2", () -> Thread.currentThread().isInterrupted());
            stubborn.awaitBegun();
            cancelled.cancel(true);
            stubborn.awaitInterrupt();
            stubborn.release();

            assertThat(next.await().value()).isFalse();
        }
    }

    @Test
    void a_reused_thread_yields_its_carrier_every_64_tasks() throws Exception {
        String before = Jvm.run(
                OneCarrier.class,
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1");

        assertThat(Integer.parseInt(before)).isBetween(1, 63);
    }

    /** A program that prints how many tasks of a thread came before another virtual thread had the only carrier. */
    static final class OneCarrier {
        private OneCarrier() {}

        public static void main(String[] args) throws InterruptedException {
            AtomicBoolean witnessed = new AtomicBoolean();
            AtomicInteger before = new AtomicInteger();
            CountDownLatch resumed = new CountDownLatch(1); // afterwards no other thread uses the group
            CountDownLatch ended = new CountDownLatch(200);
            GroupPolicy policy =
                    GroupPolicy.builder().reuseThreads(true).build(); // closes when the last task has ended
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                executor.pauseGroup("a");
                executor.submit("a", "first", () -> {
                    resumed.await();
                    Scheduler.virtualThreads().execute(() -> witnessed.set(true));
                    return true;
                });
                for (int i = 0; i < 200; i++) {
                    executor.submit("a", () -> {
                        before.addAndGet(witnessed.get() ? 0 : 1);
                        ended.countDown();
                    });
                }
                executor.resumeGroup("a");
                resumed.countDown();
                ended.await();
            }
            System.out.println(before);
        }
    }
}
