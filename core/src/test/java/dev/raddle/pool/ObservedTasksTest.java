package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the task listener and the propagators of a pool. */
class ObservedTasksTest {

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final List<TaskIdentity> identities = new CopyOnWriteArrayList<>();
    private final List<String> reports = new CopyOnWriteArrayList<>();
    private final ThreadLocal<@Nullable String> context = new ThreadLocal<>();
    private final TaskListener recorder = new TaskListener() {
        @Override
        public void onSubmitted(TaskIdentity task) {
            identities.add(task);
            events.add(task.owner() + "/" + task.name() + " submitted");
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            events.add(task.name() + " started after " + waitNanos);
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            events.add(task.name() + " " + textOf(outcome) + " in " + runNanos);
        }
    };

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private static String textOf(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Success<?>(Object value) -> "success " + value;
            case Outcome.Failure<?>(Throwable error) -> "failed " + error.getMessage();
            case Outcome.Cancelled<?>(Throwable cause) -> "cancelled " + cause.getMessage();
            case Outcome.Rejected<?>(Rejection rejection) -> "rejected " + rejection;
            case Outcome.Skipped<?>(String reason) -> "skipped " + reason;
        };
    }

    private record Named(String name, Callable<?> body) implements NamedTask, Callable<Object>, Runnable {
        static Named of(String name) {
            return new Named(name, () -> name + "!");
        }

        @Override
        public Object call() throws Exception {
            return body.call();
        }

        @Override
        public void run() {
            try {
                body.call();
            } catch (Exception failure) {
                TestPools.<RuntimeException>sneaky(failure);
            }
        }
    }

    private PoolBuilder builder() {
        return unobserved().addListener(recorder).addPropagator(this::captureContext);
    }

    private PoolBuilder unobserved() {
        return ThreadPool.builder("p")
                .threads(1)
                .timeSource(time)
                .exceptionSink(
                        ExceptionSink.to((source, failure) -> reports.add(source + ": " + failure.getMessage())));
    }

    private ContextPropagator.Captured captureContext() {
        String captured = context.get();
        return () -> {
            String before = context.get();
            context.set(captured);
            return () -> context.set(before);
        };
    }

    private ThreadPool pool(PoolBuilder builder) {
        return pools.keep(builder.build());
    }

    /** Occupies the only thread of a pool, and forgets the events of that. */
    private BlockingTask occupy(ThreadPool pool) throws InterruptedException {
        BlockingTask blocker = pools.occupy(pool);
        events.clear();
        return blocker;
    }

    /** Waits until the pool's thread has ended all tasks. */
    private static void end(ThreadPool pool) throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
    }

    private List<String> eventsOf(String name) {
        return events.stream()
                .filter(line -> line.startsWith(name + " ") || line.startsWith("p/" + name + " "))
                .toList();
    }

    @Test
    void a_listener_is_notified_of_a_submission_start_and_end_before_get_returns() throws Exception {
        ThreadPool pool = pool(builder());
        Object value = pool.submit((Callable<Object>) new Named("a", () -> {
                    time.advance(Duration.ofNanos(5));
                    return 7;
                }))
                .get();

        assertThat(value).isEqualTo(7);
        assertThat(events).containsExactly("p/a submitted", "a started after 0", "a success 7 in 5");
        assertThat(identities).singleElement().hasToString("task a of pool \"p\"");
    }

    @Test
    void a_listener_receives_the_time_that_a_task_waited() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        time.advance(Duration.ofNanos(3));
        blocker.release();
        end(pool);

        assertThat(eventsOf("a")).containsExactly("p/a submitted", "a started after 3", "a success null in 0");
    }

    @Test
    void a_runnable_without_a_name_is_named_after_its_class() throws Exception {
        ThreadPool pool = pool(builder());
        pool.submit(new Runnable() {
                    @Override
                    public void run() {}

                    @Override
                    public String toString() {
                        return "of no use";
                    }
                })
                .get();

        assertThat(identities)
                .singleElement()
                .extracting(TaskIdentity::name)
                .asString()
                .contains("ObservedTasksTest");
    }

    @Test
    void the_outcome_of_a_future_is_that_of_its_callable() throws Exception {
        ThreadPool pool = pool(builder());
        Future<?> failing = pool.submit((Callable<?>) new Named("a", () -> {
            throw new IllegalStateException("broken");
        }));
        assertThatThrownBy(failing::get).isInstanceOf(ExecutionException.class);
        assertThat(eventsOf("a")).endsWith("a failed broken in 0");

        Future<?> interrupted = pool.submit((Callable<?>) new Named("b", () -> {
            throw new InterruptedException("gave up");
        }));
        assertThatThrownBy(interrupted::get).isInstanceOf(ExecutionException.class);
        assertThat(eventsOf("b")).endsWith("b cancelled gave up in 0");
    }

    @Test
    void the_outcome_of_a_runnable_is_what_it_throws() throws Exception {
        CountDownLatch uncaught = new CountDownLatch(1);
        ThreadPool pool = pool(builder().threadFactory(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((where, failure) -> {
                reports.add("uncaught " + failure.getMessage());
                uncaught.countDown();
            });
            return thread;
        }));
        pool.execute(new Named("a", () -> {
            throw new java.io.IOException("broken");
        }));
        end(pool);
        uncaught.await();

        assertThat(events).containsExactly("p/a submitted", "a started after 0", "a failed broken in 0");
        assertThat(reports).containsExactly("uncaught broken");
    }

    @Test
    void the_outcome_of_another_future_is_its_state() throws Exception {
        ThreadPool pool = pools.keep(new ThreadPool(builder()) {
            @Override
            protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> callable) {
                return new FutureTask<>(callable);
            }
        });
        pool.submit((Callable<?>) () -> "value");
        pool.submit((Callable<?>) () -> {
            throw new IllegalStateException("broken");
        });
        end(pool);

        assertThat(events)
                .filteredOn(line -> line.contains(" in "))
                .satisfiesExactly(
                        line -> assertThat(line).contains("success value"),
                        line -> assertThat(line).contains("failed broken"));
    }

    @Test
    void another_future_that_is_cancelled_in_the_queue_is_settled_by_the_worker_and_never_started() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask blocker = occupy(pool);
        FutureTask<?> future = new FutureTask<>(() -> "value");
        pool.execute(future);
        future.cancel(false);
        events.clear();
        blocker.release();
        end(pool);

        assertThat(events)
                .filteredOn(line -> !line.contains("BlockingTask"))
                .containsExactly("java.util.concurrent.FutureTask cancelled the future was cancelled in 0");
    }

    @Test
    void a_rejected_task_is_settled_as_rejected_and_never_started() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        assertThatThrownBy(() -> pool.execute(Named.of("b"))).isInstanceOf(RejectedExecutionException.class);
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected pool: it is full in 0");
        blocker.release();
        end(pool);
        assertThatThrownBy(() -> pool.submit((Runnable) Named.of("c"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(eventsOf("c")).containsExactly("p/c submitted", "c rejected shutdown: it has been shut down in 0");
        assertThat(eventsOf("a")).endsWith("a success null in 0");
    }

    @Test
    void a_task_that_the_caller_runs_is_settled_as_rejected() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.CallerRunsPolicy()));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        Future<?> run = pool.submit((Callable<?>) Named.of("b"));
        assertThat(run.get()).isEqualTo("b!");
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected pool: it is full in 0");
        blocker.release();
    }

    @Test
    void a_task_that_is_discarded_is_settled_as_rejected() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.DiscardPolicy()));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        assertThat(pool.submit((Runnable) Named.of("b")).isCancelled()).isTrue();
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected pool: it is full in 0");
        blocker.release();
    }

    @Test
    void a_task_that_the_policy_drops_instead_of_the_oldest_is_submitted_once() throws Exception {
        ThreadPool pool = pool(builder().rejection(new ThreadPool.DiscardOldestPolicy()));
        end(pool);
        assertThat(pool.submit((Runnable) Named.of("a")).isCancelled()).isTrue();
        pool.execute(Named.of("b"));

        assertThat(eventsOf("a")).containsExactly("p/a submitted", "a rejected shutdown: it has been shut down in 0");
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected shutdown: it has been shut down in 0");
    }

    @Test
    void a_task_that_replaces_the_oldest_is_submitted_twice_and_runs_in_its_context() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.DiscardOldestPolicy()));
        BlockingTask blocker = occupy(pool);
        Future<?> oldest = pool.submit((Runnable) Named.of("a"));
        AtomicReference<@Nullable String> seen = new AtomicReference<>();
        context.set("of b");
        pool.execute(new Named("b", () -> {
            seen.set(context.get());
            return null;
        }));
        blocker.release();
        end(pool);

        assertThat(oldest.isCancelled()).isTrue();
        assertThat(eventsOf("a"))
                .containsExactly("p/a submitted", "a rejected pool: it was dropped by pool \"p\" in 0");
        assertThat(eventsOf("b"))
                .containsExactly(
                        "p/b submitted",
                        "b rejected pool: it is full in 0",
                        "p/b submitted",
                        "b started after 0",
                        "b success null in 0");
        assertThat(seen).hasValue("of b");
    }

    @Test
    void a_submitter_that_waits_for_capacity_has_submitted_once() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.BlockPolicy()));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        Thread submitter = TestPools.started(() -> pool.execute(Named.of("b")));
        TestPools.awaitParked(submitter);
        blocker.release();
        submitter.join();
        end(pool);

        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b started after 0", "b success null in 0");
    }

    @Test
    void a_handler_that_delegates_to_a_policy_that_waits_rejects_only_what_that_does_not_accept() throws Exception {
        AtomicReference<RejectionHandler> policy = new AtomicReference<>(new ThreadPool.BlockPolicy());
        ThreadPool pool = pool(builder()
                .queueCapacity(1)
                .rejection((task, full) -> policy.get().rejected(task, full)));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        Thread submitter = TestPools.started(() -> pool.execute(Named.of("b")));
        TestPools.awaitParked(submitter);
        policy.set(new ThreadPool.BlockPolicy(Duration.ZERO));
        assertThatThrownBy(() -> pool.execute(Named.of("c"))).isInstanceOf(RejectedExecutionException.class);
        blocker.release();
        submitter.join();
        end(pool);

        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b started after 0", "b success null in 0");
        assertThat(eventsOf("c")).containsExactly("p/c submitted", "c rejected pool: it is full in 0");
        assertThat(pool.stats().rejected()).isEqualTo(1);
        assertThat(pool.stats().completed()).isEqualTo(3);
    }

    @Test
    void a_handler_that_submits_a_task_again_has_it_rejected_first_and_accepted_then() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection((task, full) -> {
            full.getQueue().clear();
            full.execute(task);
        }));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        pool.execute(Named.of("b"));
        blocker.release();
        end(pool);

        assertThat(eventsOf("b"))
                .containsExactly(
                        "p/b submitted",
                        "b rejected pool: it is full in 0",
                        "p/b submitted",
                        "b started after 0",
                        "b success null in 0");
        assertThat(pool.stats().rejected()).isEqualTo(1);
    }

    @Test
    void a_submission_that_was_rejected_before_its_handler_waits_in_vain_is_rejected_once() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection((task, full) -> {
            full.getQueue().clear();
            full.execute(task);
            new ThreadPool.BlockPolicy(Duration.ZERO).rejected(task, full);
        }));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        assertThatThrownBy(() -> pool.execute(Named.of("b"))).isInstanceOf(RejectedExecutionException.class);
        blocker.release();
        end(pool);

        assertThat(eventsOf("b"))
                .endsWith("b started after 0", "b success null in 0")
                .hasSize(5);
        assertThat(pool.stats().rejected()).isEqualTo(1);
    }

    @Test
    void a_future_that_a_handler_cancels_or_runs_is_settled_as_rejected() throws Exception {
        AtomicReference<RejectionHandler> handler = new AtomicReference<>();
        ThreadPool pool = pool(builder()
                .queueCapacity(1)
                .rejection((task, full) -> handler.get().rejected(task, full)));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        handler.set((task, full) -> ((Future<?>) task).cancel(false));
        pool.submit((Runnable) Named.of("b"));
        handler.set((task, full) -> task.run());
        pool.submit((Runnable) Named.of("c"));
        blocker.release();

        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected pool: it is full in 0");
        assertThat(eventsOf("c")).containsExactly("p/c submitted", "c rejected pool: it is full in 0");
    }

    @Test
    void a_submitter_whose_wait_times_out_has_its_task_rejected() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.BlockPolicy(Duration.ZERO)));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        assertThatThrownBy(() -> pool.execute(Named.of("b"))).isInstanceOf(RejectedExecutionException.class);
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b rejected pool: it is full in 0");
        blocker.release();
    }

    @Test
    void a_worker_that_would_wait_for_itself_starts_and_ends_the_task() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(1).rejection(new ThreadPool.BlockPolicy()));
        pool.submit((Runnable) new Named("outer", () -> {
                    pool.execute(Named.of("queued"));
                    pool.execute(Named.of("inner"));
                    return null;
                }))
                .get();

        assertThat(eventsOf("inner"))
                .containsExactly("p/inner submitted", "inner started after 0", "inner success null in 0");
        assertThat(events.indexOf("inner success null in 0")).isLessThan(events.indexOf("outer success null in 0"));
    }

    @Test
    void a_task_that_is_handed_back_is_settled_once_as_rejected() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        Future<?> future = pool.submit((Runnable) Named.of("b"));
        assertThat(pool.shutdownNow()).hasSize(2);
        blocker.release();

        assertThat(future.isCancelled()).isTrue();
        assertThat(eventsOf("a"))
                .containsExactly("p/a submitted", "a rejected shutdown: it was handed back by pool \"p\" in 0");
        assertThat(eventsOf("b"))
                .containsExactly("p/b submitted", "b rejected shutdown: it was handed back by pool \"p\" in 0");
    }

    @Test
    void a_task_that_is_handed_back_uncancelled_may_be_run_by_its_owner_unobserved() throws Exception {
        ThreadPool pool = pool(builder().cancelHandedBack(false));
        BlockingTask blocker = occupy(pool);
        Future<?> future = pool.submit((Callable<?>) Named.of("a"));
        ShutdownReport report = drainAndRelease(pool, blocker);
        report.handedBack().getFirst().runnable().run();

        assertThat(future.get()).isEqualTo("a!");
        assertThat(eventsOf("a"))
                .containsExactly("p/a submitted", "a rejected shutdown: it was handed back by pool \"p\" in 0");
    }

    private static ShutdownReport drainAndRelease(ThreadPool pool, BlockingTask interruptible) {
        ShutdownReport report = pool.drain(Duration.ZERO);
        interruptible.release();
        return report;
    }

    @Test
    void a_future_that_is_cancelled_in_the_queue_is_settled_at_once_and_never_started() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask blocker = occupy(pool);
        Future<?> future = pool.submit((Runnable) Named.of("a"));
        Future<?> purged = pool.submit((Runnable) Named.of("b"));
        assertThat(future.cancel(true)).isTrue();
        assertThat(future.cancel(true)).isFalse();
        assertThat(events).contains("a cancelled the future was cancelled in 0");
        purged.cancel(false);
        pool.purge();
        blocker.release();
        end(pool);

        assertThat(eventsOf("a")).containsExactly("p/a submitted", "a cancelled the future was cancelled in 0");
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b cancelled the future was cancelled in 0");
    }

    @Test
    void a_future_that_is_cancelled_while_it_runs_is_settled_once_by_the_canceller() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask task = pools.uninterruptible();
        Future<?> future = pool.submit((Runnable) new Named("a", () -> {
            task.run();
            return null;
        }));
        task.awaitBegun();
        time.advance(Duration.ofNanos(9));
        assertThat(future.cancel(true)).isTrue();
        assertThat(events).last().isEqualTo("a cancelled the future was cancelled in 9");
        task.release();
        end(pool);

        assertThat(events)
                .containsExactly("p/a submitted", "a started after 0", "a cancelled the future was cancelled in 9");
        assertThat(future.isCancelled()).isTrue();
    }

    @Test
    void a_future_that_is_cancelled_by_the_notification_of_its_start_ends_after_it_and_does_not_run() throws Exception {
        CountDownLatch submitted = new CountDownLatch(1);
        AtomicReference<@Nullable Future<?>> future = new AtomicReference<>();
        TaskListener canceller = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                try {
                    submitted.await();
                } catch (InterruptedException impossible) {
                    throw new AssertionError(impossible);
                }
                future.get().cancel(true);
                events.add("cancelled");
            }
        };
        ThreadPool pool = pool(unobserved().addListener(canceller).addListener(recorder));
        future.set(pool.submit((Runnable) new Named("a", () -> events.add("ran"))));
        submitted.countDown();
        end(pool);

        assertThat(events)
                .containsExactly(
                        "p/a submitted", "cancelled", "a started after 0", "a cancelled the future was cancelled in 0");
    }

    @Test
    void a_listener_may_cancel_the_future_that_it_is_notified_of() throws Exception {
        AtomicReference<@Nullable Future<?>> future = new AtomicReference<>();
        CountDownLatch submitted = new CountDownLatch(1);
        ThreadPool pool = pool(unobserved().addListener(new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add(textOf(outcome) + " " + future.get().cancel(true));
            }
        }));
        future.set(pool.submit((Callable<?>) () -> {
            submitted.await();
            return "value";
        }));
        submitted.countDown();

        assertThat(future.get().get()).isEqualTo("value");
        assertThat(events).containsExactly("success value false");
    }

    @Test
    void a_task_that_a_caller_removes_from_the_queue_is_settled_as_cancelled() throws Exception {
        ThreadPool pool = pool(builder());
        BlockingTask blocker = occupy(pool);
        List<Named> tasks =
                List.of("a", "b", "c", "d", "e").stream().map(Named::of).toList();
        tasks.forEach(pool::execute);
        BlockingQueue<Runnable> queue = pool.getQueue();
        assertThat(pool.remove(tasks.get(0))).isTrue();
        assertThat(queue.remove(tasks.get(1))).isTrue();
        assertThat(queue.poll()).isSameAs(tasks.get(2));
        assertThat(queue.take()).isSameAs(tasks.get(3));
        queue.clear();
        for (Named task : tasks) {
            assertThat(eventsOf(task.name()))
                    .containsExactly(
                            "p/" + task.name() + " submitted",
                            task.name() + " cancelled it was removed from the queue of pool \"p\" in 0");
        }
        tasks.get(2).run();
        blocker.release();
        end(pool);

        assertThat(events).filteredOn(line -> line.startsWith("c ")).hasSize(1);
    }

    @Test
    void a_task_that_is_removed_from_a_users_queue_is_settled_when_the_pool_terminates() throws Exception {
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        ThreadPool pool = pool(builder().queue(queue));
        BlockingTask blocker = occupy(pool);
        pool.execute(Named.of("a"));
        pool.execute(Named.of("b"));
        assertThat(queue.poll()).isNotNull();
        blocker.release();
        end(pool);

        assertThat(eventsOf("a"))
                .containsExactly("p/a submitted", "a cancelled it was removed from the queue of pool \"p\" in 0");
        assertThat(eventsOf("b")).endsWith("b success null in 0");
    }

    @Test
    void each_submission_of_the_same_runnable_has_an_identity() throws Exception {
        ThreadPool pool = pool(builder().queueCapacity(2));
        BlockingTask blocker = occupy(pool);
        Named task = Named.of("a");
        pool.execute(task);
        pool.execute(task);
        assertThatThrownBy(() -> pool.execute(task)).isInstanceOf(RejectedExecutionException.class);
        identities.removeFirst(); // the blocker's
        assertThat(identities).hasSize(3).doesNotHaveDuplicates();
        blocker.release();
        end(pool);

        assertThat(eventsOf("a"))
                .containsExactly(
                        "p/a submitted",
                        "p/a submitted",
                        "p/a submitted",
                        "a rejected pool: it is full in 0",
                        "a started after 0",
                        "a success null in 0",
                        "a started after 0",
                        "a success null in 0");
    }

    @Test
    void a_runnable_that_is_submitted_200_000_times_is_observed_each_time_in_linear_work() throws Exception {
        AtomicInteger settled = new AtomicInteger();
        ThreadPool pool = pool(ThreadPool.builder("p").threads(1).addListener(new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                settled.incrementAndGet();
            }
        }));
        BlockingTask blocker = occupy(pool);
        Runnable same = () -> {};
        for (int i = 0; i < 200_000; i++) {
            pool.execute(same); // a search of the whole list would take minutes
        }
        blocker.release();
        end(pool);

        assertThat(settled).hasValue(200_001);
    }

    @Test
    void the_tasks_of_invokeAny_have_their_names_and_end_before_it_returns() throws Exception {
        ThreadPool pool = pool(builder());
        Object value = pool.invokeAny(List.of(
                new Named("a", () -> {
                    throw new IllegalStateException("broken");
                }),
                Named.of("b")));

        assertThat(value).isEqualTo("b!");
        assertThat(eventsOf("a")).contains("a failed broken in 0");
        assertThat(eventsOf("b")).contains("b success b! in 0");
    }

    @Test
    void the_tasks_of_invokeAll_have_their_names() throws Exception {
        ThreadPool pool = pool(builder());
        pool.invokeAll(List.of(Named.of("a"), Named.of("b")));

        assertThat(eventsOf("a")).endsWith("a success a! in 0");
        assertThat(eventsOf("b")).endsWith("b success b! in 0");
    }

    @Test
    void a_task_that_beforeExecute_skips_is_settled_and_never_started() throws Exception {
        ThreadPool pool = pools.keep(
                new ThreadPool(builder().threadFactory(task -> {
                    Thread thread = new Thread(task);
                    thread.setUncaughtExceptionHandler((where, failure) -> {});
                    return thread;
                })) {
                    @Override
                    protected void beforeExecute(Thread thread, Runnable task) {
                        throw new IllegalStateException("not now");
                    }
                });
        pool.execute(Named.of("a"));
        Future<?> future = pool.submit((Runnable) Named.of("b"));
        assertThatThrownBy(future::get).isInstanceOf(java.util.concurrent.CancellationException.class);
        end(pool);

        assertThat(eventsOf("a")).containsExactly("p/a submitted", "a failed not now in 0");
        assertThat(eventsOf("b")).containsExactly("p/b submitted", "b cancelled the future was cancelled in 0");
    }

    @Test
    void the_hooks_are_called_outside_of_the_context_and_around_the_notifications() throws Exception {
        ThreadPool pool = pools.keep(new ThreadPool(builder()) {
            @Override
            protected void beforeExecute(Thread thread, Runnable task) {
                events.add("before in " + context.get());
            }

            @Override
            protected void afterExecute(Runnable task, @Nullable Throwable failure) {
                events.add("after in " + context.get());
            }
        });
        context.set("of a");
        pool.execute(new Named("a", () -> events.add("a runs in " + context.get())));
        end(pool);

        assertThat(events)
                .containsExactly(
                        "p/a submitted",
                        "before in null",
                        "a started after 0",
                        "a runs in of a",
                        "a success null in 0",
                        "after in null");
    }

    @Test
    void a_task_that_gets_no_thread_is_settled_as_failed() {
        ThreadPool pool = pool(builder().threadFactory(task -> {
            throw new IllegalStateException("no thread");
        }));
        assertThatThrownBy(() -> pool.execute(Named.of("a"))).hasMessage("no thread");

        assertThat(events).containsExactly("p/a submitted", "a failed no thread in 0");
    }

    @Test
    void a_listener_and_a_propagator_that_throw_have_no_effect_on_tasks() throws Exception {
        TaskListener throwing = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                throw new IllegalStateException("1");
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                throw new IllegalStateException("2");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                throw new IllegalStateException("3");
            }
        };
        ThreadPool pool = pool(unobserved().addListener(throwing).addPropagator(() -> {
            throw new IllegalStateException("0");
        }));

        assertThat(pool.submit((Callable<?>) Named.of("a")).get()).isEqualTo("a!");
        assertThat(reports)
                .hasSize(4)
                .satisfiesExactly(
                        line -> assertThat(line).endsWith("0"),
                        line -> assertThat(line)
                                .isEqualTo("onSubmitted of the listener, for task \"a\" in pool \"p\": 1"),
                        line -> assertThat(line)
                                .isEqualTo("onStarted of the listener, for task \"a\" in pool \"p\": 2"),
                        line -> assertThat(line)
                                .isEqualTo("onSettled of the listener, for task \"a\" in pool \"p\": 3"));
    }

    @Test
    void a_propagator_alone_carries_the_context() throws Exception {
        ThreadPool pool = pool(unobserved().addPropagator(this::captureContext));
        context.set("of the submitter");

        assertThat(pool.submit((Callable<?>) context::get).get()).isEqualTo("of the submitter");
        context.remove();
        assertThat(pool.submit((Callable<?>) context::get).get()).isNull();
        assertThat(events).isEmpty();
    }

    @Test
    void the_tasks_of_a_group_are_observed_by_the_group_only() throws Exception {
        ThreadPool pool = pool(builder());
        List<String> ofGroup = new CopyOnWriteArrayList<>();
        GroupPolicy policy = GroupPolicy.builder()
                .scheduler(key -> Scheduler.from(pool))
                .addListener(new TaskListener() {
                    @Override
                    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                        ofGroup.add(task.owner() + "/" + task.name());
                    }
                })
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            context.set("of the submitter");
            assertThat(executor.submit("key", "a", () -> String.valueOf(context.get()))
                            .await()
                            .value())
                    .isEqualTo("null");
        }

        assertThat(ofGroup).containsExactly("key/a");
        assertThat(events).isEmpty();
    }

    @Test
    void a_pool_without_a_listener_and_propagators_has_plain_futures() {
        ThreadPool pool = pools.keep(ThreadPool.builder("p").threads(1).build());

        assertThat(pool.submit(() -> {})).isExactlyInstanceOf(PooledTask.class);
    }
}
