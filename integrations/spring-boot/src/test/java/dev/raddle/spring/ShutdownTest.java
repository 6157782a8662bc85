package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupResult;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.NamedTask;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

class ShutdownTest {

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.raddle.shutdown");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class))
            .withBean("closing", ApplicationListener.class, () ->
                    (ApplicationListener<ContextClosedEvent>) event -> closing.countDown())
            .withPropertyValues(
                    "raddle.groups.first.max-concurrency=1",
                    "raddle.groups.second.max-concurrency=1",
                    "raddle.pools.workers.threads=1");

    @BeforeEach
    void capture() {
        logger.setLevel(Level.DEBUG);
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void release() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    @Test
    void running_and_waiting_tasks_end_before_the_context_is_closed() {
        List<String> done = new CopyOnWriteArrayList<>();
        runner.run(context -> {
            GroupExecutor executor = context.getBean("first", GroupExecutor.class);
            Callable<String> task = () -> {
                closing.await();
                done.add("task");
                return "done";
            };
            executor.submit("a", "running", task);
            executor.submit("a", "waiting", task);
            context.getBean(ThreadPool.class).submit(task);
        });
        assertThat(done).hasSize(3);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void a_task_can_submit_to_an_executor_that_comes_before_its_own() {
        AtomicReference<TaskHandle<String>> submitted = new AtomicReference<>();
        runner.run(context -> {
            GroupExecutor first = context.getBean("first", GroupExecutor.class);
            context.getBean("second", GroupExecutor.class).submit("a", "outer", () -> {
                closing.await();
                submitted.set(first.submit("a", "inner", () -> "inner"));
                return "outer";
            });
        });
        assertThat(submitted.get().join().orElseThrow()).isEqualTo("inner");
    }

    @Test
    void a_job_of_a_pool_can_submit_to_an_executor_that_was_idle_until_then() {
        AtomicReference<TaskHandle<String>> submitted = new AtomicReference<>();
        runner.run(context -> {
            GroupExecutor first = context.getBean("first", GroupExecutor.class);
            ThreadPool pool = context.getBean(ThreadPool.class);
            pool.execute(() -> {
                while (!first.isShutdown() && !pool.isShutdown()) {
                    Thread.onSpinWait();
                }
                submitted.set(first.submit("a", "inner", () -> "inner"));
            });
        });
        assertThat(submitted.get().join().orElseThrow()).isEqualTo("inner");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void pools_are_drained_before_idle_executors_and_after_one_that_is_not_idle_in_time(boolean isIdle) {
        AtomicReference<ObservedPool> observed = new AtomicReference<>();
        runner.withBean("observed", ObservedPool.class, ObservedPool::new)
                .withPropertyValues("raddle.shutdown.timeout=" + (isIdle ? "30s" : "0s"))
                .run(context -> {
                    ObservedPool pool = context.getBean(ObservedPool.class);
                    pool.executor = context.getBean("first", GroupExecutor.class);
                    if (!isIdle) {
                        pool.executor.submit("a", this::untilInterrupted);
                        begun.await();
                    }
                    observed.set(pool);
                });
        assertThat(observed.get().wasDrainedAfterExecutor).isNotEqualTo(isIdle);
    }

    @Test
    void what_does_not_end_in_time_is_interrupted_and_logged_with_its_name() {
        AtomicReference<TaskHandle<String>> running = new AtomicReference<>();
        runner.withPropertyValues("raddle.shutdown.timeout=0s").run(context -> {
            GroupExecutor executor = context.getBean("first", GroupExecutor.class);
            running.set(executor.submit("tenant-a", "import", this::untilInterrupted));
            executor.submit("tenant-a", "export", this::untilInterrupted);
            begun.await();
        });
        GroupResult<String> result = running.get().join();
        assertThat(result.isCancelled()).isTrue();
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("executor \"first\" was shut down: 1 running tasks interrupted, 1 waiting ones rejected")
                .containsPattern("tenant-a/import \\((interrupted|still running)\\)")
                .contains("tenant-a/export (not started)");
    }

    @Test
    void what_a_pool_does_not_finish_is_logged_with_its_name() {
        runner.withPropertyValues("raddle.shutdown.timeout=0s").run(context -> {
            ThreadPool pool = context.getBean(ThreadPool.class);
            pool.submit(new Named("report-1", this::untilInterrupted));
            pool.submit(new Named("report-2", this::untilInterrupted));
            begun.await();
        });
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains("report-2 (not started)")
                .contains("report-1 (interrupted)");
    }

    @Test
    void a_pool_that_cannot_be_shut_down_does_not_keep_others_from_finishing_their_tasks() {
        List<String> done = new CopyOnWriteArrayList<>();
        runner.withBean("broken", ThreadPool.class, BrokenPool::new)
                .run(context -> context.getBean("workers", ThreadPool.class).submit(() -> {
                    closing.await();
                    return done.add("task");
                }));
        assertThat(done).containsExactly("task");
        assertThat(warnings()).containsExactly("\"broken\" was not shut down");
    }

    @Test
    void readiness_is_off_first_and_tasks_are_awaited_when_the_web_server_has_stopped() {
        List<String> events = new CopyOnWriteArrayList<>();
        CountDownLatch stopped = new CountDownLatch(1);
        runner.withBean("readiness", ApplicationListener.class, () -> (ApplicationListener<AvailabilityChangeEvent<?>>)
                        event -> events.add(event.getState().toString()))
                .withBean(SmartLifecycle.class, () -> new WebServer(events, stopped))
                .run(context -> context.getBean("first", GroupExecutor.class).submit("a", () -> {
                    stopped.await();
                    events.add("task ended");
                    return "";
                }));
        assertThat(events)
                .containsExactly(ReadinessState.REFUSING_TRAFFIC.toString(), "web server stopped", "task ended");
        assertThat(warnings()).isEmpty();
    }

    private String untilInterrupted() throws InterruptedException {
        begun.countDown();
        never.await();
        return "never";
    }

    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    private record Named(String name, Callable<String> task) implements NamedTask, Callable<String> {
        @Override
        public String call() throws Exception {
            return task.call();
        }
    }

    /** Stops where Boot stops a web server. */
    private static final class WebServer implements SmartLifecycle {
        private final List<String> events;
        private final CountDownLatch stopped;
        private boolean running;

        WebServer(List<String> events, CountDownLatch stopped) {
            this.events = events;
            this.stopped = stopped;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            events.add("web server stopped");
            stopped.countDown();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return DEFAULT_PHASE - 2048;
        }
    }

    private static final class ObservedPool extends ThreadPool {
        private volatile GroupExecutor executor;
        private volatile Boolean wasDrainedAfterExecutor;

        ObservedPool() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public ShutdownReport drain(Duration timeout) {
            wasDrainedAfterExecutor = executor.isShutdown();
            return super.drain(timeout);
        }
    }

    private static final class BrokenPool extends ThreadPool {
        BrokenPool() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public ShutdownReport drain(Duration timeout) {
            throw new IllegalStateException("broken");
        }
    }
}
