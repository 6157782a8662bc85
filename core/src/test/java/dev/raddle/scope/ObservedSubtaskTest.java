package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Listeners, propagators and flight recordings of subtasks. */
class ObservedSubtaskTest {

    private static final ThreadLocal<String> MDC = new ThreadLocal<>();
    private static final ContextPropagator PROPAGATOR = () -> {
        String captured = MDC.get();
        return () -> {
            String before = MDC.get();
            MDC.set(captured);
            return () -> MDC.set(before);
        };
    };

    /** A task with a name. */
    private record Named<T>(String name, Callable<T> body) implements NamedTask, Callable<T> {
        @Override
        public T call() throws Exception {
            return body.call();
        }
    }

    private final List<String> notifications = new CopyOnWriteArrayList<>();
    private final VirtualTime time = new VirtualTime();
    private final TaskListener listener = new TaskListener() {
        @Override
        public void onSubmitted(TaskIdentity task) {
            notifications.add(task.owner() + "/" + task.name() + " submitted, MDC " + MDC.get());
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            notifications.add(task.name() + " started, MDC " + MDC.get());
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            notifications.add(task.name() + " " + outcome.status());
        }
    };
    private final StructuredScopeOptions options = StructuredScopeOptions.defaults()
            .withName("checkout")
            .withTimeSource(time)
            .addListener(listener)
            .addPropagator(PROPAGATOR);

    private static Callable<String> named(String name, Callable<String> body) {
        return new Named<>(name, body);
    }

    @ParameterizedTest
    @EnumSource
    void a_listener_is_notified_of_each_subtask_which_has_the_forkers_context(Kind kind) throws Exception {
        StructuredScopeOptions observed =
                kind.options().withName("checkout").addListener(listener).addPropagator(PROPAGATOR);
        MDC.set("request 7");
        try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(observed)) {
            Subtask<String> price = scope.fork(named("price", MDC::get));
            scope.join();
            assertThat(price.get()).isEqualTo("request 7");
            assertThat(notifications)
                    .containsExactly(
                            "checkout/price submitted, MDC request 7", "price started, MDC null", "price SUCCESS");
        } finally {
            MDC.remove();
        }
    }

    @Test
    void failures_rejections_and_cancellations_by_a_shutdown_are_notified_once() throws Exception {
        CountDownLatch shutDown = new CountDownLatch(1);
        AtomicBoolean refuses = new AtomicBoolean();
        StructuredScopeOptions refusing = options.withThreadFactory(
                run -> refuses.get() ? null : Thread.ofVirtual().unstarted(run));
        try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(refusing)) {
            Subtask<String> fails = scope.fork(named("fails", () -> {
                throw new IllegalStateException("on purpose");
            }));
            Wait.until(() -> fails.state() == Subtask.State.FAILED);
            refuses.set(true);
            assertThatExceptionOfType(RejectedExecutionException.class)
                    .isThrownBy(() -> scope.fork(named("is refused", () -> "never")));
            refuses.set(false);
            scope.fork(named("is shut down", () -> {
                scope.shutdown();
                shutDown.countDown();
                return "late";
            }));
            shutDown.await();
            scope.join();
            scope.fork(named("too late", () -> "never"));
        }
        assertThat(notifications)
                .filteredOn(line -> !line.contains("ted, MDC"))
                .containsExactlyInAnyOrder("fails FAILED", "is shut down CANCELLED", "is refused CANCELLED");
        assertThat(notifications).filteredOn(line -> line.contains("started")).hasSize(2);
        assertThat(notifications).filteredOn(line -> line.contains("submitted")).hasSize(3);
    }

    @Test
    void when_join_returns_the_listener_was_notified() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(options)) {
            for (int i = 0; i < 20; i++) {
                scope.fork(named("task " + i, () -> {
                    go.await();
                    return "value";
                }));
            }
            go.countDown();
            scope.join();
            assertThat(notifications)
                    .filteredOn(line -> line.endsWith("SUCCESS"))
                    .hasSize(20);
        }
    }

    @Test
    void a_recording_has_scope_name_outcome_and_times_of_a_subtask(@TempDir Path directory) throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("dev.raddle.Task");
            recording.start();
            try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(StructuredScopeOptions.defaults()
                    .withName("recorded subtasks")
                    .withTimeSource(time))) {
                scope.fork(named("price", () -> {
                    time.advance(Duration.ofSeconds(3));
                    return "value";
                }));
                scope.join();
            }
            Path file = directory.resolve("subtasks.jfr");
            recording.dump(file);
            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals("dev.raddle.Task"))
                    .filter(event -> "recorded subtasks".equals(event.getString("scope")))
                    .toList();
            assertThat(events).singleElement().satisfies(event -> {
                assertThat(event.getString("name")).isEqualTo("price");
                assertThat(event.getString("outcome")).isEqualTo("success");
                assertThat(event.getDuration("runTime")).isEqualTo(Duration.ofSeconds(3));
                assertThat(event.getString("group")).isNull();
            });
        }
    }
}
