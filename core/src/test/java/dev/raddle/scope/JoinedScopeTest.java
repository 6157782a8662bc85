package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertIllegalState;
import static dev.raddle.scope.Tasks.assertWrongThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.FailedException;
import dev.raddle.scope.StructuredTaskScope.Joiner;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scopes with joiners. */
class JoinedScopeTest {

    private static <T> T fail() {
        throw new ArithmeticException("no");
    }

    private static <T, R> JoinedScope<T, R> open(Kind kind, Joiner<? super T, ? extends R> joiner) {
        return StructuredTaskScope.open(joiner, config -> config.withOptions(kind.options()));
    }

    @Test
    void a_scope_without_a_joiner_requires_all_to_succeed() throws Exception {
        try (var scope = StructuredTaskScope.<String>open()) {
            var one = scope.fork(() -> "one");
            var run = new AtomicBoolean();
            var two = scope.fork(() -> run.set(true));
            assertIllegalState(one::get);
            assertThat(scope.join()).isNull();

            assertThat(one.get()).isEqualTo("one");
            assertThat(two.state()).isEqualTo(Subtask.State.SUCCESS);
            assertThat(two.get()).isNull();
            assertThat(run).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_successful_returns_all_in_order(Kind kind) throws Exception {
        try (JoinedScope<String, java.util.stream.Stream<Subtask<String>>> scope =
                open(kind, Joiner.<String>allSuccessfulOrThrow())) {
            scope.fork(() -> "one");
            scope.fork(() -> "two");

            assertThat(scope.join().map(Subtask::get)).containsExactly("one", "two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_successful_shuts_down_at_the_first_failure(Kind kind) throws Exception {
        try (JoinedScope<String, ?> scope = open(kind, Joiner.<String>allSuccessfulOrThrow())) {
            scope.fork(() -> Tasks.<String>forever());
            scope.fork(() -> JoinedScopeTest.<String>fail());

            assertThatThrownBy(scope::join)
                    .isInstanceOf(FailedException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
            assertThat(scope.isCancelled()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void any_successful_shuts_down_at_the_first_success(Kind kind) throws Exception {
        try (JoinedScope<String, String> scope = open(kind, Joiner.<String>anySuccessfulResultOrThrow())) {
            scope.fork(() -> Tasks.<String>forever());
            scope.fork(() -> "value");

            assertThat(scope.join()).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @EnumSource
    void any_successful_throws_the_first_failure_if_all_fail(Kind kind) throws Exception {
        try (JoinedScope<String, String> scope = open(kind, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> JoinedScopeTest.<String>fail());
            scope.fork(() -> JoinedScopeTest.<String>fail());

            assertThatThrownBy(scope::join)
                    .isInstanceOf(FailedException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
        try (JoinedScope<String, String> scope = open(kind, Joiner.<String>anySuccessfulOrThrow())) {
            assertThatThrownBy(scope::join)
                    .isInstanceOf(FailedException.class)
                    .hasCauseInstanceOf(NoSuchElementException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void await_all_waits_for_failures_too(Kind kind) throws Exception {
        try (JoinedScope<String, Void> scope = open(kind, Joiner.<String>awaitAll())) {
            var failure = scope.fork(() -> JoinedScopeTest.<String>fail());
            var success = scope.fork(() -> "value");
            assertThat(scope.join()).isNull();

            assertThat(failure.exception()).isInstanceOf(ArithmeticException.class);
            assertThat(success.get()).isEqualTo("value");
            assertThat(scope.isCancelled()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_until_shuts_down_when_the_predicate_returns_true(Kind kind) throws Exception {
        AtomicInteger failures = new AtomicInteger();
        Joiner<String, java.util.stream.Stream<Subtask<String>>> twoFailures =
                Joiner.allUntil(subtask -> subtask.state() == Subtask.State.FAILED && failures.incrementAndGet() == 2);
        try (JoinedScope<String, java.util.stream.Stream<Subtask<String>>> scope = open(kind, twoFailures)) {
            scope.fork(() -> JoinedScopeTest.<String>fail());
            scope.fork(() -> Tasks.<String>forever());
            scope.fork(() -> JoinedScopeTest.<String>fail());

            assertThat(scope.join().map(Subtask::state))
                    .containsExactly(Subtask.State.FAILED, Subtask.State.UNAVAILABLE, Subtask.State.FAILED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_joiner_that_cancels_in_onFork_is_still_called_for_later_forks(Kind kind) throws Exception {
        AtomicInteger notified = new AtomicInteger();
        AtomicBoolean ran = new AtomicBoolean();
        Joiner<Boolean, String> joiner = new Joiner<>() {
            @Override
            public boolean onFork(Subtask<? extends Boolean> subtask) {
                notified.incrementAndGet();
                return true;
            }

            @Override
            public String result() {
                return "result";
            }
        };
        try (JoinedScope<Boolean, String> scope = open(kind, joiner)) {
            scope.fork(() -> ran.getAndSet(true));
            scope.fork(() -> ran.getAndSet(true));
            assertThat(scope.join()).isEqualTo("result");
        }
        assertThat(ran).isFalse();
        assertThat(notified).hasValue(2);
    }

    @Test
    void the_defaults_of_a_joiner_check_the_state() throws Exception {
        Joiner<Object, String> joiner = () -> "result";
        try (var scope = StructuredTaskScope.open(joiner)) {
            var done = scope.fork(() -> "value");
            assertThat(scope.join()).isEqualTo("result");

            assertThat(joiner.onComplete(done)).isFalse();
            assertThatThrownBy(() -> joiner.onFork(done)).isInstanceOf(IllegalArgumentException.class);
        }
        try (var scope = StructuredTaskScope.open(Joiner.<Object>awaitAll())) {
            var running = scope.fork(() -> Tasks.<Object>forever());
            assertThatThrownBy(() -> joiner.onComplete(running)).isInstanceOf(IllegalArgumentException.class);
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_shuts_down_and_is_thrown(Kind kind) throws Exception {
        VirtualTime time = new VirtualTime();
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>awaitAll(),
                config -> config.withOptions(kind.options().withTimeSource(time))
                        .withTimeout(Duration.ofMillis(200))
                        .withName("timely"))) {
            scope.fork(() -> Tasks.<String>forever());
            time.advance(Duration.ofMillis(200));

            assertThatThrownBy(scope::join)
                    .isInstanceOf(JoinedScope.TimeoutException.class)
                    .hasMessage("scope \"timely\" ran out of time after 200 ms (its timeout)");
            assertThat(scope.isCancelled()).isTrue();
        }
    }

    @Test
    void a_timeout_that_comes_after_the_end_changes_nothing() throws Exception {
        VirtualTime time = new VirtualTime();
        var options = StructuredScopeOptions.defaults().withTimeSource(time);
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>anySuccessfulOrThrow(),
                config -> config.withOptions(options).withTimeout(Duration.ofMillis(200)))) {
            scope.fork(() -> "value");
            Wait.until(scope::isCancelled);
            time.advance(Duration.ofMillis(200));

            assertThat(scope.join()).isEqualTo("value");
        }
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>awaitAll(), config -> config.withOptions(options).withTimeout(Duration.ofMillis(200)))) {
            scope.join();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void only_the_owner_forks_joins_and_closes() throws Exception {
        try (var scope = StructuredTaskScope.open(Joiner.<Boolean>awaitAll())) {
            var subtask = scope.fork(() -> {
                assertWrongThread(() -> scope.fork(() -> true));
                assertWrongThread(scope::join);
                assertWrongThread(scope::close);
                return true;
            });
            scope.join();

            assertThat(subtask.get()).isTrue();
        }
    }

    @Test
    void a_scope_is_joined_once_and_cannot_fork_after_that() throws Exception {
        var scope = StructuredTaskScope.open(Joiner.<String>awaitAll());
        scope.join();
        assertIllegalState(scope::join);
        assertIllegalState(() -> scope.fork(() -> "late"));
        scope.close();
        scope.close();
        assertIllegalState(scope::join);
    }

    @Test
    void a_join_that_was_interrupted_may_be_repeated() throws Exception {
        try (var scope = StructuredTaskScope.open(Joiner.<String>awaitAll())) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "value"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertIllegalState(() -> scope.fork(() -> "late"));
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("value");
        }
    }

    @Test
    void close_without_join_interrupts_waits_and_throws() {
        var scope = StructuredTaskScope.open(Joiner.<String>awaitAll());
        scope.fork(() -> Tasks.<String>forever());

        assertThatThrownBy(scope::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("forked and not joined");
        assertIllegalState(() -> scope.fork(() -> "late"));
        var unused = StructuredTaskScope.open(Joiner.<String>awaitAll());
        unused.close();
        assertIllegalState(() -> unused.fork(() -> "late"));
    }

    @Test
    void a_configuration_has_a_name_and_a_factory() throws Exception {
        AtomicInteger made = new AtomicInteger();
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>awaitAll(),
                config -> config.withName("named").withThreadFactory(run -> {
                    made.incrementAndGet();
                    return new Thread(run);
                }))) {
            scope.fork(() -> "value");
            scope.join();

            assertThat(scope.toString()).startsWith("named (");
            assertThat(ScopeDump.container(scope)).isEqualTo("JDK scope");
            assertThat(ScopeDump.json(scope)).contains("named/");
        }
        assertThat(made).hasValue(1);
    }

    @Test
    void messages_can_contain_a_timeout_of_any_length() throws Exception {
        for (Duration length : List.of(Duration.ZERO, Duration.ofSeconds(Long.MIN_VALUE))) {
            try (var scope =
                    StructuredTaskScope.open(Joiner.<String>awaitAll(), config -> config.withTimeout(length))) {
                scope.fork(() -> Tasks.<String>forever());
                assertThatThrownBy(scope::join)
                        .isInstanceOf(JoinedScope.TimeoutException.class)
                        .hasMessageContaining("(its timeout)");
            }
        }
    }
}
