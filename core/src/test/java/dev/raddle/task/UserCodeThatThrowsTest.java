package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.TaskInfo;
import dev.raddle.scope.ThreadHook;
import dev.raddle.scope.ThreadScope;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever of the user's code throws, tasks settle, permits are released, and what was opened can be closed. The log and the
 * default uncaught exception handler throw in every one of these tests, so nothing that a guard hands on is ever accepted.
 */
@Isolated
class UserCodeThatThrowsTest {

    /** What is broken. Each throws an error, which is graver than what most guards have in mind. */
    private enum Broken {
        LISTENER,
        HOOK,
        SINK,
        TIME,
        CAPTURE,
        INSTALL,
        RESTORE,
        SCHEDULER,
        TASK_TEXT,
        EXCEPTION_TEXT,
        THREAD;

        void strike() {
            throw new AssertionError("on purpose: " + this);
        }
    }

    private static final class Parts {
        final Broken broken;
        final BreakableTime time = new BreakableTime();

        Parts(Broken broken) {
            this.broken = broken;
        }

        private void strike(Broken which) {
            if (broken == which) {
                which.strike();
            }
        }

        ExceptionSink sink() {
            return broken == Broken.SINK
                    ? ExceptionSink.to((source, error) -> Broken.SINK.strike())
                    : ExceptionSink.logging();
        }

        TaskListener listener() {
            return new TaskListener() {
                @Override
                public void onSubmitted(TaskIdentity task) {
                    strikeIfHeard();
                }

                @Override
                public void onStarted(TaskIdentity task, long waitNanos) {
                    strikeIfHeard();
                }

                @Override
                public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                    strikeIfHeard();
                }
            };
        }

        private void strikeIfHeard() {
            strike(Broken.LISTENER);
            strike(Broken.SINK);
        }

        ContextPropagator propagator() {
            return new ContextPropagator() {
                @Override
                public Captured capture() {
                    strike(Broken.CAPTURE);
                    return new Captured() {
                        @Override
                        public Installed install() {
                            strike(Broken.INSTALL);
                            return new Installed() {
                                @Override
                                public void close() {
                                    strike(Broken.RESTORE);
                                }

                                @Override
                                public String toString() {
                                    throw new AssertionError("on purpose: text of what is installed");
                                }
                            };
                        }

                        @Override
                        public String toString() {
                            throw new AssertionError("on purpose: text of what was captured");
                        }
                    };
                }

                @Override
                public String toString() {
                    throw new AssertionError("on purpose: text of a propagator");
                }
            };
        }

        ThreadHook hook() {
            return new ThreadHook() {
                @Override
                public void onStart(TaskInfo task) {
                    strike(Broken.HOOK);
                }

                @Override
                public void onSuccess(TaskInfo task, Duration ran) {
                    strike(Broken.HOOK);
                }
            };
        }

        Scheduler scheduler() {
            return new Scheduler() {
                @Override
                public void execute(Runnable task) {
                    if (broken == Broken.THREAD) {
                        new OddThread(task).start();
                    } else {
                        Scheduler.virtualThreads().execute(task);
                    }
                }

                @Override
                public String toString() {
                    strike(Broken.SCHEDULER);
                    return "scheduler of the test";
                }
            };
        }

        /** What the first task does: from now on the time is broken, too. */
        String first() throws Exception {
            time.isBroken = broken == Broken.TIME;
            if (broken == Broken.EXCEPTION_TEXT) {
                throw new UnspeakableException();
            }
            return "first";
        }
    }

    private static final class UnspeakableException extends Exception {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            throw new AssertionError("on purpose: text of an exception");
        }

        @Override
        public String getMessage() {
            throw new AssertionError("on purpose: message of an exception");
        }
    }

    private static final class OddThread extends Thread {
        OddThread(Runnable task) {
            super(task);
            setDaemon(true);
        }

        @Override
        public void interrupt() {
            super.interrupt();
            throw new AssertionError("on purpose: interrupt()");
        }

        @Override
        public String toString() {
            throw new AssertionError("on purpose: text of a thread");
        }
    }

    private static final class BreakableTime implements TimeSource {
        volatile boolean isBroken;

        @Override
        public long nanoTime() {
            if (isBroken) {
                Broken.TIME.strike();
            }
            return System.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            Alarm alarm = TimeSource.system().after(delay, action);
            return () -> {
                alarm.cancel();
                if (isBroken) {
                    Broken.TIME.strike();
                }
                return true;
            };
        }
    }

    /** Runs two tasks one after the other, and closes what it has opened for them. */
    private enum Api {
        GROUP {
            @Override
            void run(Parts parts) throws Exception {
                GroupPolicy policy = GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(1)
                        .taskListener(parts.listener())
                        .propagators(List.of(parts.propagator()))
                        .exceptionSink(parts.sink())
                        .timeSource(parts.time)
                        .scheduler(key -> parts.scheduler())
                        .build();
                try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                    TaskHandle<String> first = executor.submit(
                            "g", TaskSpec.named("first", parts::first).timeout(Duration.ofHours(1)));
                    TaskHandle<String> second = executor.submit("g", "second", () -> "second");
                    executor.scheduler("g").execute(new Unspeakable(true));
                    GroupResult<String> ended = first.await();
                    assertThat(ended.status())
                            .isEqualTo(parts.broken == Broken.EXCEPTION_TEXT ? TaskStatus.FAILED : TaskStatus.SUCCESS);
                    assertThat(second.await().value()).isEqualTo("second");
                    if (parts.broken == Broken.THREAD) {
                        interruptOneThatRuns(executor);
                    }
                }
            }

            private void interruptOneThatRuns(GroupExecutor executor) throws InterruptedException {
                CountDownLatch begun = new CountDownLatch(1);
                TaskHandle<String> cancelled = executor.submit("g", "cancelled", () -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return "never";
                });
                begun.await();
                cancelled.cancel(true);
                assertThat(cancelled.await().status()).isEqualTo(TaskStatus.CANCELLED);
            }
        },
        THREAD_SCOPE {
            @Override
            void run(Parts parts) throws Exception {
                try (ThreadScope scope = ThreadScope.open("scope")
                        .withTimeSource(parts.time)
                        .withScheduler(parts.scheduler())
                        .withConcurrencyLimit(1)
                        .withListener(parts.listener())
                        .withHook(parts.hook())
                        .withPropagator(parts.propagator())
                        .withExceptionSink(parts.sink())) {
                    Task<String> first =
                            scope.submit(TaskSpec.named("first", parts::first).timeout(Duration.ofHours(1)));
                    Task<String> second = scope.submit("second", () -> "second");
                    assertThat(second.await()).isEqualTo("second");
                    assertThat(first.isDone()).isTrue();
                }
            }
        },
        STRUCTURED_TASK_SCOPE {
            @Override
            void run(Parts parts) throws Exception {
                StructuredScopeOptions options = StructuredScopeOptions.defaults()
                        .withTimeSource(parts.time)
                        .withSink(parts.sink())
                        .withScheduler(parts.scheduler());
                try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(options) {
                    @Override
                    protected void handleComplete(Subtask<? extends String> subtask) {
                        parts.strike(Broken.HOOK);
                    }
                }) {
                    StructuredTaskScope.Subtask<String> first = scope.fork(parts::first);
                    StructuredTaskScope.Subtask<String> second = scope.fork(() -> "second");
                    scope.join();
                    assertThat(first.state()).isNotEqualTo(StructuredTaskScope.Subtask.State.UNAVAILABLE);
                    assertThat(second.get()).isEqualTo("second");
                    if (parts.broken == Broken.THREAD) {
                        CountDownLatch begun = new CountDownLatch(1);
                        scope.fork(() -> {
                            begun.countDown();
                            new CountDownLatch(1).await();
                            return "never";
                        });
                        begun.await();
                        scope.shutdown();
                        scope.join();
                    }
                }
            }
        },
        FLOW {
            @Override
            void run(Parts parts) throws Exception {
                FlowBuilder<Void> f = FlowPlan.define("flow");
                Node<String> first = f.node("first", parts::first)
                        .timeout(Duration.ofHours(1))
                        .onBegin(context -> parts.strike(Broken.HOOK))
                        .onResult(report -> parts.strike(Broken.HOOK));
                f.node("second", Dependency.after(first), outcome -> "second");
                FlowResult<Void> result = f.build()
                        .run(
                                null,
                                RunOptions.timeout(Duration.ofHours(1))
                                        .withTimeSource(parts.time)
                                        .withScheduler(parts.scheduler())
                                        .withListener(parts.listener())
                                        .withPropagator(parts.propagator())
                                        .withExceptionSink(parts.sink()));
                assertThat(result.status())
                        .isEqualTo(parts.broken == Broken.EXCEPTION_TEXT ? FlowStatus.DEGRADED : FlowStatus.SUCCESS);
            }
        },
        POOL {
            @Override
            void run(Parts parts) throws Exception {
                ThreadPool pool = ThreadPool.builder("pool")
                        .threads(1)
                        .queueCapacity(10)
                        .timeSource(parts.time)
                        .listener(new PoolListener() {
                            @Override
                            public void accepted(Runnable task) {
                                parts.strikeIfHeard();
                            }

                            @Override
                            public void started(Runnable task, Thread thread) {
                                parts.strikeIfHeard();
                            }

                            @Override
                            public void ended(Ended event) {
                                parts.strikeIfHeard();
                            }
                        })
                        .build();
                Future<String> first = pool.submit(parts::first);
                pool.execute(new Unspeakable(false));
                Future<String> second = pool.submit(() -> "second");
                assertThat(second.get()).isEqualTo("second");
                assertThat(first.isDone()).isTrue();
                pool.shutdown();
                assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
            }
        };

        abstract void run(Parts parts) throws Exception;
    }

    /** A task without a text. */
    private record Unspeakable(boolean fails) implements Runnable {
        @Override
        public void run() {
            if (fails) {
                throw new IllegalStateException("the task's own");
            }
        }

        @Override
        public String toString() {
            throw new AssertionError("on purpose: text of a task");
        }
    }

    private final List<Object> loggers =
            new ArrayList<>(); // which are forgotten otherwise, and their filters with them
    private final AtomicInteger lines = new AtomicInteger();
    private Thread.UncaughtExceptionHandler before;

    @BeforeEach
    void breakTheLogAndTheLastResort() throws ReflectiveOperationException {
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            throw new AssertionError("on purpose: uncaught exception handler");
        });
        filter("dev.raddle");
        filter("dev.raddle.pool.ThreadPool");
    }

    @AfterEach
    void mendThem() throws ReflectiveOperationException {
        Thread.setDefaultUncaughtExceptionHandler(before);
        for (Object logger : loggers) {
            logger.getClass().getMethod("setFilter", filterClass()).invoke(logger, (Object) null);
        }
    }

    /** By reflection: the module under test does not read {@code java.logging}. */
    private void filter(String name) throws ReflectiveOperationException {
        InvocationHandler throwing = (proxy, method, arguments) -> {
            lines.incrementAndGet();
            throw new IllegalStateException("on purpose: log");
        };
        Object logger = Class.forName("java.util.logging.Logger")
                .getMethod("getLogger", String.class)
                .invoke(null, name);
        Object filter = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {filterClass()}, throwing);
        logger.getClass().getMethod("setFilter", filterClass()).invoke(logger, filter);
        loggers.add(logger);
    }

    private static Class<?> filterClass() throws ClassNotFoundException {
        return Class.forName("java.util.logging.Filter");
    }

    static Stream<Arguments> everything() {
        return Stream.of(Api.values()).flatMap(api -> Stream.of(Broken.values()).map(broken -> arguments(api, broken)));
    }

    @ParameterizedTest
    @MethodSource("everything")
    void tasks_end_one_after_the_other_and_what_ran_them_can_be_closed(Api api, Broken broken) throws Exception {
        api.run(new Parts(broken));
    }

    /** A clock that goes, and has no alarms. */
    private static final class NoAlarms implements TimeSource {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            throw new IllegalStateException("on purpose: no alarm");
        }
    }

    @Test
    void a_task_whose_time_cannot_be_watched_fails_and_leaves_its_group() throws InterruptedException {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .timeSource(new NoAlarms())
                .scheduler(key -> steps)
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            TaskHandle<String> runs = executor.submit("g", "runs", () -> "value");
            TaskHandle<String> limited = executor.submit(
                    "g", TaskSpec.named("limited", () -> "never").timeout(Duration.ofHours(1)));
            TaskHandle<String> impatient = executor.submit(
                    "g", TaskSpec.named("impatient", () -> "never").queueTimeout(Duration.ofHours(1)));

            assertThat(limited.await().error()).hasMessage("on purpose: no alarm");
            assertThat(impatient.await().error()).hasMessage("on purpose: no alarm");
            assertThat(executor.stats().totalQueuedCount()).isZero();
            steps.runAll();
            assertThat(runs.await().value()).isEqualTo("value");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_task_whose_time_cannot_be_watched_fails_and_leaves_its_scope() throws InterruptedException {
        try (ThreadScope scope =
                ThreadScope.open("scope").withTimeSource(new NoAlarms()).withConcurrencyLimit(1)) {
            Task<String> limited =
                    scope.submit(TaskSpec.named("limited", () -> "never").timeout(Duration.ofHours(1)));
            assertThat(limited.state()).isEqualTo(Task.State.FAILED);
            assertThat(scope.submit("next", () -> "value").await()).isEqualTo("value");
        }
    }

    @Test
    void a_sink_never_throws_although_its_log_does() {
        ExceptionSink.logging().report("listener", new IllegalStateException("on purpose"));

        assertThat(lines).hasValue(1);
    }

    @Test
    void a_stuck_task_without_a_text_does_not_hide_the_next_one() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        ThreadPool pool = ThreadPool.builder("stuck")
                .threads(2)
                .timeSource(time)
                .stuckAfter(Duration.ofSeconds(1))
                .build();
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        Runnable task = new Runnable() {
            @Override
            public void run() {
                begun.countDown();
                Wait.uninterruptibly(end);
            }

            @Override
            public String toString() {
                throw new AssertionError("on purpose: text of a task");
            }
        };
        pool.execute(task);
        pool.execute(task);
        begun.await();

        time.advance(Duration.ofSeconds(1));

        Wait.until(() -> lines.get() == 2);
        end.countDown();
        pool.close();
    }

    @Test
    void a_task_without_a_text_is_rejected_like_any_other() {
        ThreadPool pool = ThreadPool.builder("full").threads(1).build();
        pool.shutdown();

        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> pool.execute(new Unspeakable(false)));
    }
}
