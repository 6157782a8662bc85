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
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
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
 * Whatever user code throws, tasks settle, permits are released, and scopes and executors can be closed. The log and
 * the default uncaught exception handler throw in each of these tests, so that no guard can rely on them.
 */
@Isolated
class UserCodeThatThrowsTest {

    /** The broken user code. Each throws an error, which a guard that catches exceptions would miss. */
    private enum Broken {
        LISTENER,
        HOOK,
        SINK,
        CAPTURE,
        INSTALL,
        RESTORE,
        SCHEDULER,
        TASK_TEXT,
        EXCEPTION_TEXT,
        THREAD;

        void fail() {
            throw new AssertionError("on purpose: " + this);
        }
    }

    private static final class Parts {
        final Broken broken;

        Parts(Broken broken) {
            this.broken = broken;
        }

        private void failIf(Broken which) {
            if (broken == which) {
                which.fail();
            }
        }

        ExceptionSink sink() {
            return broken == Broken.SINK
                    ? ExceptionSink.to((source, error) -> Broken.SINK.fail())
                    : ExceptionSink.logging();
        }

        TaskListener listener() {
            return new TaskListener() {
                @Override
                public void onSubmitted(TaskIdentity task) {
                    failInListener();
                }

                @Override
                public void onStarted(TaskIdentity task, long waitNanos) {
                    failInListener();
                }

                @Override
                public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                    failInListener();
                }
            };
        }

        private void failInListener() {
            failIf(Broken.LISTENER);
            failIf(Broken.SINK);
        }

        ContextPropagator propagator() {
            return new ContextPropagator() {
                @Override
                public Captured capture() {
                    failIf(Broken.CAPTURE);
                    return new Captured() {
                        @Override
                        public Installed install() {
                            failIf(Broken.INSTALL);
                            return new Installed() {
                                @Override
                                public void close() {
                                    failIf(Broken.RESTORE);
                                }

                                @Override
                                public String toString() {
                                    throw new AssertionError("on purpose: text of an installed context");
                                }
                            };
                        }

                        @Override
                        public String toString() {
                            throw new AssertionError("on purpose: text of a captured context");
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
                    failIf(Broken.HOOK);
                }

                @Override
                public void onSuccess(TaskInfo task, Duration ran) {
                    failIf(Broken.HOOK);
                }
            };
        }

        Scheduler scheduler() {
            return new Scheduler() {
                @Override
                public void execute(Runnable task) {
                    if (broken == Broken.THREAD) {
                        new ThreadThatThrows(task).start();
                    } else {
                        Scheduler.virtualThreads().execute(task);
                    }
                }

                @Override
                public String toString() {
                    failIf(Broken.SCHEDULER);
                    return "scheduler of the test";
                }
            };
        }

        /** The first task. */
        String first() throws Exception {
            if (broken == Broken.EXCEPTION_TEXT) {
                throw new ExceptionWithoutText();
            }
            return "first";
        }
    }

    private static final class ExceptionWithoutText extends Exception {
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

    private static final class ThreadThatThrows extends Thread {
        ThreadThatThrows(Runnable task) {
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

    private enum Api {
        GROUP {
            @Override
            void run(Parts parts) throws Exception {
                GroupPolicy policy = GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(1)
                        .addListener(parts.listener())
                        .addPropagator(parts.propagator())
                        .exceptionSink(parts.sink())
                        .scheduler(key -> parts.scheduler())
                        .build();
                try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
                    TaskHandle<String> first = executor.submit(
                            "g", TaskSpec.named("first", parts::first).timeout(Duration.ofHours(1)));
                    TaskHandle<String> second = executor.submit("g", "second", () -> "second");
                    executor.scheduler("g").execute(new TaskWithoutText(true));
                    GroupResult<String> ended = first.await();
                    assertThat(ended.status())
                            .isEqualTo(parts.broken == Broken.EXCEPTION_TEXT ? TaskStatus.FAILED : TaskStatus.SUCCESS);
                    assertThat(second.await().value()).isEqualTo("second");
                    if (parts.broken == Broken.THREAD) {
                        interruptRunningTask(executor);
                    }
                }
            }

            private void interruptRunningTask(GroupExecutor executor) throws InterruptedException {
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
                        .withScheduler(parts.scheduler())
                        .withConcurrencyLimit(1)
                        .addListener(parts.listener())
                        .addHook(parts.hook())
                        .addPropagator(parts.propagator())
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
                        .withExceptionSink(parts.sink())
                        .withThreadFactory(run -> parts.broken == Broken.THREAD
                                ? new ThreadThatThrows(run)
                                : Thread.ofVirtual().unstarted(run));
                try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(options) {
                    @Override
                    protected void handleComplete(Subtask<? extends String> subtask) {
                        parts.failIf(Broken.HOOK);
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
                        .onBegin(context -> parts.failIf(Broken.HOOK))
                        .onResult(report -> parts.failIf(Broken.HOOK));
                f.node("second", Dependency.after(first), outcome -> "second");
                FlowResult<Void> result = f.build()
                        .run(
                                null,
                                RunOptions.timeout(Duration.ofHours(1))
                                        .withScheduler(parts.scheduler())
                                        .addListener(parts.listener())
                                        .addPropagator(parts.propagator())
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
                        .listener(new PoolListener() {
                            @Override
                            public void accepted(Runnable task) {
                                parts.failInListener();
                            }

                            @Override
                            public void started(Runnable task, Thread thread) {
                                parts.failInListener();
                            }

                            @Override
                            public void ended(Ended event) {
                                parts.failInListener();
                            }
                        })
                        .build();
                Future<String> first = pool.submit(parts::first);
                pool.execute(new TaskWithoutText(false));
                Future<String> second = pool.submit(() -> "second");
                assertThat(second.get()).isEqualTo("second");
                assertThat(first.isDone()).isTrue();
                pool.shutdown();
                assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
            }
        };

        abstract void run(Parts parts) throws Exception;
    }

    /** A task whose {@code toString()} throws. */
    private record TaskWithoutText(boolean fails) implements Runnable {
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
            new ArrayList<>(); // strong references: java.util.logging holds loggers and their filters weakly
    private final AtomicInteger lines = new AtomicInteger();
    private Thread.UncaughtExceptionHandler before;

    @BeforeEach
    void breakLogAndUncaughtExceptionHandler() throws ReflectiveOperationException {
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            throw new AssertionError("on purpose: uncaught exception handler");
        });
        filter("dev.raddle");
        filter("dev.raddle.pool.ThreadPool");
    }

    @AfterEach
    void restoreLogAndUncaughtExceptionHandler() throws ReflectiveOperationException {
        Thread.setDefaultUncaughtExceptionHandler(before);
        for (Object logger : loggers) {
            logger.getClass().getMethod("setFilter", filterClass()).invoke(logger, (Object) null);
        }
    }

    /** Uses reflection, because the module under test does not read {@code java.logging}. */
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
    void tasks_end_in_sequence_and_their_scope_or_executor_can_be_closed(Api api, Broken broken) throws Exception {
        api.run(new Parts(broken));
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
                .isThrownBy(() -> pool.execute(new TaskWithoutText(false)));
    }
}
