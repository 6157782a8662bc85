package dev.raddle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.scope.Kind;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.structured.StructuredTaskScope.Configuration;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Configurations, and what surrounds a scope: the rows N14 and N15. */
class ObservedScopesTest {

    /** A task with a name. */
    private record Named(String name, Callable<String> body) implements NamedTask, Callable<String> {
        @Override
        public String call() throws Exception {
            return body.call();
        }
    }

    // N14

    @Test
    void configurations_with_the_same_settings_are_equal_and_show_them() {
        ThreadFactory factory = Thread.ofPlatform().factory();
        AtomicReference<Configuration> defaults = new AtomicReference<>();
        try (var scope = StructuredTaskScope.open(config -> {
            defaults.set(config);
            return config;
        })) {
            assertThat(scope.isCancelled()).isFalse();
        }
        Configuration plain = defaults.get();
        Configuration changed =
                plain.withName("some-name").withTimeout(Duration.ofSeconds(3)).withThreadFactory(factory);

        assertThat(changed)
                .isEqualTo(plain.withThreadFactory(factory)
                        .withTimeout(Duration.ofSeconds(3))
                        .withName("some-name"))
                .hasSameHashCodeAs(plain.withThreadFactory(factory)
                        .withTimeout(Duration.ofSeconds(3))
                        .withName("some-name"))
                .isNotEqualTo(changed.withName("other"))
                .isNotEqualTo(changed.withTimeout(Duration.ofSeconds(4)))
                .isNotEqualTo(changed.withThreadFactory(Thread::new))
                .isNotEqualTo(plain);
        assertThat(changed.toString()).contains("some-name", "PT3S", factory.toString());
    }

    // N15

    @ParameterizedTest
    @EnumSource
    void a_listener_sees_the_subtasks_with_the_names_of_their_tasks(Kind kind) throws Exception {
        List<String> notifications = new CopyOnWriteArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                notifications.add(task.owner() + "/" + task.name() + " submitted");
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                notifications.add(task.name() + " started");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                notifications.add(task.name() + " " + outcome.status());
            }
        };
        StructuredScopeOptions options = kind.options().withName("checkout").addListener(listener);
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>anySuccessfulOrThrow(), config -> config.withOptions(options))) {
            scope.fork(new Named("price", () -> "value"));
            assertThat(scope.join()).isEqualTo("value");
        }
        assertThat(notifications).containsExactly("checkout/price submitted", "price started", "price SUCCESS");
    }

    @ParameterizedTest
    @EnumSource
    void subtasks_inherit_scoped_values_or_with_plain_threads_the_registered_ones(Kind kind) throws Exception {
        ScopedValue<String> value = ScopedValue.newInstance();
        String inherited = ScopedValue.where(value, "bound").call(() -> {
            StructuredScopeOptions options = kind.options().addScopedValue(value);
            try (var scope = StructuredTaskScope.open(
                    Joiner.<String>anySuccessfulOrThrow(), config -> config.withOptions(options))) {
                scope.fork(value::get);
                return scope.join();
            }
        });
        assertThat(inherited).isEqualTo("bound");
    }

    @Test
    void a_scope_says_which_container_its_threads_have() {
        try (var jdk = Opened.of(Kind.JDK_VIRTUAL, Joiner.allSuccessfulOrThrow());
                var plain = Opened.of(Kind.PLAIN_VIRTUAL, Joiner.allSuccessfulOrThrow())) {
            assertThat(jdk.toString()).endsWith("(JDK scope)");
            assertThat(plain.toString()).endsWith("(fallback: plain threads were asked for)");
        }
    }

    @Test
    void a_subtask_that_delays_close_is_reported() throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch end = new CountDownLatch(1);
        List<String> reports = new CopyOnWriteArrayList<>();
        StructuredScopeOptions options = StructuredScopeOptions.defaults()
                .withName("slow")
                .withTimeSource(time)
                .withPatience(Duration.ofSeconds(1))
                .withExceptionSink(ExceptionSink.to((source, failure) -> {
                    reports.add(source + ": " + failure.getMessage());
                    if (failure.getMessage().contains("straggler")) { // the other subtask may not have ended, either
                        end.countDown();
                    }
                }));
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>anySuccessfulOrThrow(), config -> config.withOptions(options))) {
            CountDownLatch begun = new CountDownLatch(1);
            scope.fork(new Named("straggler", () -> {
                begun.countDown();
                Wait.uninterruptibly(end);
                return "late";
            }));
            begun.await();
            scope.fork(() -> "value");
            scope.join();
            Thread.startVirtualThread(() -> {
                Wait.until(() -> time.alarms() > 0);
                time.advance(Duration.ofSeconds(1));
            });
        }
        assertThat(reports).anySatisfy(each -> assertThat(each).contains("straggler", "slow"));
    }

    @Test
    void a_scope_of_either_package_may_be_inside_the_other() throws Exception {
        try (var outer = StructuredTaskScope.<String>open();
                var middle = new dev.raddle.scope.StructuredTaskScope<String>();
                var inner = StructuredTaskScope.<String>open()) {
            Subtask<String> one = inner.fork(() -> {
                middle.fork(() -> "from inside");
                return "one";
            });
            inner.join();
            middle.join();
            outer.join();
            assertThat(one.get()).isEqualTo("one");
        }
    }
}
