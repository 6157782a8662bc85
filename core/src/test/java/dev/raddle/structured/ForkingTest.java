package dev.raddle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.Kind;
import dev.raddle.structured.StructuredTaskScope.Configuration;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Opening scopes and forking in them: the rows N1 to N3. */
class ForkingTest {

    private static void assertWrongThread(ThrowingCallable action) {
        assertThatThrownBy(action).isInstanceOf(WrongThreadException.class);
    }

    // N1

    @Test
    void a_scope_without_a_joiner_requires_all_to_succeed() throws Exception {
        try (StructuredTaskScope<String, Void, ExecutionException> scope = StructuredTaskScope.open()) {
            Subtask<String> one = scope.fork(() -> "one");
            AtomicBoolean ran = new AtomicBoolean();
            Subtask<String> action = scope.fork(() -> ran.set(true));
            Void nothing = scope.join();

            assertThat(nothing).isNull();
            assertThat(one.get()).isEqualTo("one");
            assertThat(action.get()).isNull();
            assertThat(ran).isTrue();
        }
        try (var scope = StructuredTaskScope.<String>open(config -> config.withName("named"))) {
            scope.fork(() -> Opened.<String>fail("planned"));
            assertThatThrownBy(scope::join)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
            assertThat(scope.toString()).startsWith("named");
        }
    }

    @Test
    void a_configuration_that_throws_or_is_null_leaves_no_scope_open() {
        UnaryOperator<Configuration> throwing = config -> {
            throw new ArithmeticException("planned");
        };
        UnaryOperator<Configuration> missing = config -> null;
        try (var outer = new dev.raddle.scope.StructuredTaskScope<>()) {
            assertThatThrownBy(() -> StructuredTaskScope.open(throwing)).isInstanceOf(ArithmeticException.class);
            assertThatThrownBy(() -> StructuredTaskScope.open(Joiner.allSuccessfulOrThrow(), throwing))
                    .isInstanceOf(ArithmeticException.class);
            assertThatNullPointerException().isThrownBy(() -> StructuredTaskScope.open(missing));
            assertThatNullPointerException()
                    .isThrownBy(() -> StructuredTaskScope.open(Joiner.allSuccessfulOrThrow(), missing));
        } // and no structure violation
    }

    @Test
    void null_arguments_are_refused() {
        assertThatNullPointerException()
                .isThrownBy(() -> StructuredTaskScope.open((Joiner<String, ?, Exception>) null));
        assertThatNullPointerException()
                .isThrownBy(() -> StructuredTaskScope.open((UnaryOperator<Configuration>) null));
        assertThatNullPointerException().isThrownBy(() -> StructuredTaskScope.open(Joiner.allUntil(null)));
        assertThatNullPointerException().isThrownBy(() -> Joiner.allSuccessfulOrThrow(null));
        assertThatNullPointerException().isThrownBy(() -> Joiner.anySuccessfulOrThrow(null));
        assertThatNullPointerException().isThrownBy(() -> Joiner.awaitAllSuccessfulOrThrow(null));
        try (var scope = StructuredTaskScope.open(config -> {
            assertThatNullPointerException().isThrownBy(() -> config.withName(null));
            assertThatNullPointerException().isThrownBy(() -> config.withThreadFactory(null));
            assertThatNullPointerException().isThrownBy(() -> config.withTimeout(null));
            assertThatNullPointerException().isThrownBy(() -> config.withOptions(null));
            return config;
        })) {
            assertThatNullPointerException().isThrownBy(() -> scope.fork((Runnable) null));
        }
        Joiner<Object, ?, ?> defaults = Joiner.allUntil(subtask -> false);
        assertThatNullPointerException().isThrownBy(() -> defaults.onFork(null));
        assertThatNullPointerException().isThrownBy(() -> defaults.onComplete(null));
    }

    // N2

    @Test
    void only_the_owner_forks_joins_and_closes() throws Exception {
        try (var scope = StructuredTaskScope.<Boolean>open();
                ExecutorService stranger = Executors.newSingleThreadExecutor()) {
            ThrowingCallable all = () -> {
                assertWrongThread(() -> scope.fork(() -> true));
                assertWrongThread(scope::join);
                assertWrongThread(scope::close);
            };
            Subtask<Boolean> subtask = scope.fork(() -> {
                assertThatThrownBy(() -> {
                            all.call();
                            throw new ArithmeticException("all were refused");
                        })
                        .isInstanceOf(ArithmeticException.class);
                return true;
            });
            stranger.submit(() -> {
                        assertWrongThread(() -> scope.fork(() -> true));
                        assertWrongThread(scope::join);
                        assertWrongThread(scope::close);
                    })
                    .get();
            scope.join();
            assertThat(subtask.get()).isTrue();
        }
    }

    @Test
    void after_a_join_that_returned_or_threw_there_is_no_fork_and_no_join() throws Exception {
        var returned = StructuredTaskScope.<String>open();
        returned.join();
        var thrown = StructuredTaskScope.<String>open();
        thrown.fork(() -> Opened.<String>fail("planned"));
        assertThatThrownBy(thrown::join).isInstanceOf(ExecutionException.class);

        for (var scope : java.util.List.of(thrown, returned)) {
            assertThatIllegalStateException().isThrownBy(scope::join);
            assertThatIllegalStateException().isThrownBy(() -> scope.fork(() -> "late"));
            scope.close();
            assertThatIllegalStateException().isThrownBy(scope::join);
            assertThatIllegalStateException().isThrownBy(() -> scope.fork(() -> "late"));
            scope.close(); // has no effect
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_an_interrupted_join_forking_and_joining_go_on(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String>allSuccessfulOrThrow())) {
            CountDownLatch latch = new CountDownLatch(1);
            Subtask<String> first = scope.fork(() -> {
                latch.await();
                return "first";
            });
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThatIllegalStateException().isThrownBy(first::get);
            scope.fork(() -> "second");
            latch.countDown();

            assertThat(scope.join()).containsExactly("first", "second");
        }
    }

    // N3

    @ParameterizedTest
    @EnumSource
    void onFork_is_called_by_the_owner_before_a_thread_exists(Kind kind) throws Exception {
        AtomicInteger made = new AtomicInteger();
        AtomicInteger madeBefore = new AtomicInteger(-1);
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onFork(Subtask<String> subtask) {
                madeBefore.set(made.get());
                return super.onFork(subtask);
            }
        };
        try (var scope = StructuredTaskScope.open(
                joiner,
                config -> config.withOptions(kind.options()).withThreadFactory(run -> {
                    made.incrementAndGet();
                    return new Thread(run);
                }))) {
            scope.fork(() -> "value");
            assertThat(madeBefore).hasValue(0);
            assertThat(made).hasValue(1);
            assertThat(scope.join()).isEqualTo("result");
        }
        assertThat(joiner.calls)
                .containsExactly("onFork UNAVAILABLE by owner", "onComplete SUCCESS by subtask", "result by owner");
    }

    @Test
    void what_onFork_throws_is_thrown_by_fork_and_nothing_starts() throws Exception {
        AtomicInteger made = new AtomicInteger();
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onFork(Subtask<String> subtask) {
                return Opened.fail("planned");
            }
        };
        try (var scope = StructuredTaskScope.open(
                joiner,
                config -> config.withThreadFactory(run -> {
                    made.incrementAndGet();
                    return new Thread(run);
                }))) {
            assertThatThrownBy(() -> scope.fork(() -> "value")).isInstanceOf(ArithmeticException.class);
        } // and no join is required
        assertThat(made).hasValue(0);
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_forked_in_a_cancelled_scope_gets_no_thread(Kind kind) throws Exception {
        AtomicInteger made = new AtomicInteger();
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onFork(Subtask<String> subtask) {
                super.onFork(subtask);
                return true;
            }
        };
        try (var scope = StructuredTaskScope.open(
                joiner,
                config -> config.withOptions(kind.options()).withThreadFactory(run -> {
                    made.incrementAndGet();
                    return new Thread(run);
                }))) {
            Subtask<String> cancelling = scope.fork(() -> "value");
            assertThat(scope.isCancelled()).isTrue();
            Subtask<String> later = scope.fork(() -> "value");
            assertThat(scope.join()).isEqualTo("result");

            assertThat(cancelling.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertThat(later.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertThat(later.toString()).endsWith("[Unavailable]");
            assertThatIllegalStateException().isThrownBy(later::get);
            assertThatIllegalStateException().isThrownBy(later::exception);
        }
        assertThat(made).hasValue(0);
        assertThat(joiner.calls)
                .containsExactly("onFork UNAVAILABLE by owner", "onFork UNAVAILABLE by owner", "result by owner");
    }

    @Test
    void a_factory_that_returns_null_rejects_the_subtask_and_the_scope_goes_on() throws Exception {
        AtomicBoolean refuses = new AtomicBoolean(true);
        try (var scope = StructuredTaskScope.<String>open(
                config -> config.withThreadFactory(run -> refuses.getAndSet(false) ? null : new Thread(run)))) {
            assertThatThrownBy(() -> scope.fork(() -> "value")).isInstanceOf(RejectedExecutionException.class);
            Subtask<String> second = scope.fork(() -> "second");
            scope.join();
            assertThat(second.get()).isEqualTo("second");
        }
    }
}
