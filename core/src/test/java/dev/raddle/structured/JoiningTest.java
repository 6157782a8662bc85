package dev.raddle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.Kind;
import dev.raddle.scope.StructureViolationException;
import dev.raddle.structured.StructuredTaskScope.CancelledByTimeoutException;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Joining, timeouts and closing: the rows N6, N7, N10 and N13. */
class JoiningTest {

    private static final Duration LIMIT = Duration.ofMillis(200);

    private final VirtualTime time = new VirtualTime();

    private <T, R, X extends Throwable> StructuredTaskScope<T, R, X> timed(Kind kind, Joiner<T, R, X> joiner) {
        return StructuredTaskScope.open(
                joiner,
                config ->
                        config.withOptions(kind.options().withTimeSource(time)).withTimeout(LIMIT));
    }

    // N6

    @ParameterizedTest
    @EnumSource
    void a_join_waits_for_all_and_returns_the_result(Kind kind) throws Exception {
        var joiner = new Opened.Recording<String>();
        try (var scope = timed(kind, joiner)) {
            CountDownLatch latch = new CountDownLatch(1);
            scope.fork(() -> {
                latch.await();
                return "value";
            });
            scope.fork(latch::countDown);
            assertThat(scope.join()).isEqualTo("result");
            assertThat(time.alarms()).isZero();
            time.advance(LIMIT);

            assertThat(scope.isCancelled()).isFalse();
        }
        assertThat(joiner.calls).filteredOn(call -> call.contains("result")).containsExactly("result by owner");
        assertThat(joiner.calls).filteredOn(call -> call.contains("timeout")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_while_the_owner_waits_ends_the_join_with_timeout_instead_of_result(Kind kind) throws Exception {
        var joiner = new Opened.Recording<String>();
        Thread owner = Thread.currentThread();
        try (var scope = timed(kind, joiner)) {
            scope.fork(() -> Opened.<String>forever());
            Thread.ofPlatform().start(() -> {
                Wait.until(() -> isIn(owner, "join"));
                time.advance(LIMIT);
            });
            assertThat(scope.join()).isEqualTo("timeout");
            assertThat(scope.isCancelled()).isTrue();
        }
        assertThat(joiner.calls).containsExactly("onFork UNAVAILABLE by owner", "timeout by owner");
    }

    @Test
    void a_timeout_that_expires_after_the_last_subtask_and_before_the_join_is_a_timeout() throws Exception {
        var joiner = new Opened.Recording<String>();
        try (var scope = timed(Kind.JDK_VIRTUAL, joiner)) {
            Subtask<String> done = scope.fork(() -> "value");
            Wait.until(() -> done.state() == Subtask.State.SUCCESS);
            time.advance(LIMIT);
            assertThat(scope.join()).isEqualTo("timeout");
            assertThat(done.get()).isEqualTo("value");
        }
    }

    @Test
    void a_timeout_that_expires_after_the_joiner_has_cancelled_changes_nothing() throws Exception {
        try (var scope = timed(Kind.JDK_VIRTUAL, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> "value");
            Wait.until(scope::isCancelled);
            time.advance(LIMIT);

            assertThat(scope.join()).isEqualTo("value");
        }
    }

    @Test
    void an_interrupted_join_calls_neither_and_may_be_repeated() throws Exception {
        var joiner = new Opened.Recording<String>();
        try (var scope = timed(Kind.JDK_VIRTUAL, joiner)) {
            CountDownLatch latch = new CountDownLatch(1);
            scope.fork(() -> {
                latch.await();
                return "value";
            });
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertThat(joiner.calls).containsExactly("onFork UNAVAILABLE by owner");
            latch.countDown();
            assertThat(scope.join()).isEqualTo("result");
        }
        assertThat(joiner.calls).filteredOn(call -> call.contains("result")).hasSize(1);
    }

    @Test
    void what_result_and_timeout_throw_is_thrown_by_join_with_its_stack() throws Exception {
        var joiner = new Opened.Recording<String>() {
            @Override
            public String result() {
                return Opened.fail("of result");
            }

            @Override
            public String timeout() {
                return Opened.fail("of timeout");
            }
        };
        try (var scope = timed(Kind.JDK_VIRTUAL, joiner)) {
            assertThatThrownBy(scope::join)
                    .isInstanceOf(ArithmeticException.class)
                    .hasMessage("of result")
                    .satisfies(thrown -> assertThat(thrown.getStackTrace())
                            .anyMatch(frame -> frame.getMethodName().equals("join")));
            assertThatIllegalStateException().isThrownBy(scope::join);
        }
        try (var scope = timed(Kind.JDK_VIRTUAL, joiner)) {
            time.advance(LIMIT);
            assertThatThrownBy(scope::join)
                    .isInstanceOf(ArithmeticException.class)
                    .hasMessage("of timeout");
        }
    }

    // N7

    @ParameterizedTest
    @EnumSource
    void a_timeout_cancels_the_scope_also_while_the_owner_does_not_wait(Kind kind) throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        try (var scope = timed(kind, Joiner.<String>allUntil(subtask -> false))) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Subtask<String> slow = scope.fork(() -> {
                begun.countDown();
                try {
                    return Opened.<String>forever();
                } catch (InterruptedException cancelled) {
                    interrupted.set(true);
                    throw cancelled;
                } finally {
                    end.countDown();
                }
            });
            begun.await();
            time.advance(LIMIT.minusNanos(1));
            assertThat(scope.isCancelled()).isFalse();
            time.advance(Duration.ofNanos(1));
            end.await();

            assertThat(scope.isCancelled()).isTrue();
            assertThat(interrupted).isTrue();
            assertThat(scope.join()).containsExactly(slow);
            assertThat(slow.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
    }

    static List<Duration> expired() {
        return List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("expired")
    void a_timeout_of_zero_or_less_has_expired_at_once(Duration timeout) throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        var joiner = new Opened.Recording<Void>();
        try (var scope = StructuredTaskScope.open(joiner, config -> config.withTimeout(timeout))) {
            assertThat(scope.isCancelled()).isTrue();
            scope.fork(() -> ran.set(true));
            assertThat(scope.join()).isEqualTo("timeout");
        }
        assertThat(ran).isFalse();
        try (var empty = StructuredTaskScope.open(new Opened.Recording<>(), config -> config.withTimeout(timeout))) {
            assertThat(empty.join()).isEqualTo("timeout");
        }
    }

    @Test
    void a_timeout_may_be_longer_than_any_clock() throws Exception {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        try (var scope = StructuredTaskScope.<String>open(config -> config.withTimeout(longest))) {
            Subtask<String> value = scope.fork(() -> "value");
            scope.join();
            assertThat(value.get()).isEqualTo("value");
        }
    }

    // N10

    @Test
    void the_joiners_that_throw_apply_their_function_to_a_CancelledByTimeoutException() {
        List<Joiner<String, ?, ArithmeticException>> joiners = List.of(
                Joiner.allSuccessfulOrThrow(JoiningTest::planned),
                Joiner.anySuccessfulOrThrow(JoiningTest::planned),
                Joiner.awaitAllSuccessfulOrThrow(JoiningTest::planned));
        for (Joiner<String, ?, ArithmeticException> joiner : joiners) {
            try (var scope = timed(Kind.JDK_VIRTUAL, joiner)) {
                scope.fork(() -> Opened.<String>forever());
                time.advance(LIMIT);
                assertThatThrownBy(scope::join)
                        .isInstanceOf(ArithmeticException.class)
                        .hasCauseInstanceOf(CancelledByTimeoutException.class);
            }
        }
    }

    private static ArithmeticException planned(Throwable cause) {
        ArithmeticException planned = new ArithmeticException("planned");
        planned.initCause(cause);
        return planned;
    }

    @Test
    void without_a_function_the_exception_is_an_ExecutionException() {
        List<Joiner<String, ?, ExecutionException>> joiners = List.of(
                Joiner.allSuccessfulOrThrow(), Joiner.anySuccessfulOrThrow(), Joiner.awaitAllSuccessfulOrThrow());
        for (Joiner<String, ?, ExecutionException> joiner : joiners) {
            try (var scope = StructuredTaskScope.open(joiner, config -> config.withTimeout(Duration.ZERO))) {
                assertThatThrownBy(scope::join)
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(CancelledByTimeoutException.class);
            }
        }
    }

    @Test
    void a_function_that_returns_null_makes_the_join_throw_a_NullPointerException() {
        List<Joiner<String, ?, ExecutionException>> joiners = List.of(
                Joiner.allSuccessfulOrThrow(cause -> null),
                Joiner.anySuccessfulOrThrow(cause -> null),
                Joiner.awaitAllSuccessfulOrThrow(cause -> null));
        for (Joiner<String, ?, ExecutionException> joiner : joiners) {
            try (var scope = StructuredTaskScope.open(joiner)) {
                scope.fork(() -> Opened.<String>fail("planned"));
                assertThatNullPointerException().isThrownBy(scope::join);
            }
        }
        var timed = Joiner.<String, ExecutionException>allSuccessfulOrThrow(cause -> null);
        try (var scope = StructuredTaskScope.open(timed, config -> config.withTimeout(Duration.ZERO))) {
            assertThatNullPointerException().isThrownBy(scope::join);
        }
    }

    // N13

    @ParameterizedTest
    @EnumSource
    void closing_without_a_join_cancels_waits_and_throws(Kind kind) {
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        var scope = Opened.of(kind, Joiner.<String>allSuccessfulOrThrow());
        scope.fork(() -> {
            begun.countDown();
            try {
                return Opened.<String>forever();
            } catch (InterruptedException cancelled) {
                interrupted.set(true);
                throw cancelled;
            }
        });
        Wait.uninterruptibly(begun);

        assertThatIllegalStateException().isThrownBy(scope::close).withMessageContaining("has forked and not joined");
        assertThat(interrupted).isTrue();
        assertThat(scope.isCancelled()).isTrue();
        scope.close(); // has no effect
    }

    @Test
    void a_join_that_was_interrupted_satisfies_close_unless_a_fork_follows() throws Exception {
        var scope = StructuredTaskScope.<String>open();
        scope.fork(() -> Opened.<String>forever());
        Thread.currentThread().interrupt();
        assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
        scope.close();

        var again = StructuredTaskScope.<String>open();
        again.fork(() -> Opened.<String>forever());
        Thread.currentThread().interrupt();
        assertThatThrownBy(again::join).isInstanceOf(InterruptedException.class);
        again.fork(() -> Opened.<String>forever());
        assertThatIllegalStateException().isThrownBy(again::close);
    }

    @Test
    void a_scope_that_was_joined_or_never_forked_closes_quietly() throws Exception {
        var unused = StructuredTaskScope.open();
        unused.close();
        assertThat(unused.isCancelled()).isTrue();
        var joined = StructuredTaskScope.<String>open();
        joined.fork(() -> "value");
        joined.join();
        joined.close();
        assertThat(joined.isCancelled()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupt_does_not_end_a_close_and_is_kept(Kind kind) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        Thread owner = Thread.currentThread();
        try (var scope = Opened.of(kind, Joiner.<String>anySuccessfulOrThrow())) {
            CountDownLatch begun = new CountDownLatch(1);
            scope.fork(() -> {
                begun.countDown();
                Wait.uninterruptibly(end);
                ended.set(true);
                return "late";
            });
            begun.await();
            scope.fork(() -> "value");
            scope.join();
            Thread.ofPlatform().start(() -> {
                Wait.until(() -> isIn(owner, "close"));
                owner.interrupt();
                end.countDown(); // after the interrupt, which close() then keeps
            });
        }
        assertThat(ended).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    private static boolean isIn(Thread thread, String method) {
        return (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING)
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(JoinedScope.class.getName())
                                && frame.getMethodName().equals(method));
    }

    @Test
    void closing_an_outer_scope_first_closes_the_inner_one_and_throws() throws Exception {
        var outer = StructuredTaskScope.<String>open();
        var inner = StructuredTaskScope.<String>open();
        assertThatThrownBy(outer::close).isInstanceOf(StructureViolationException.class);
        Subtask<String> late = inner.fork(() -> "never");
        inner.join();
        assertThat(late.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        inner.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"JDK_VIRTUAL", "JDK_PLATFORM"})
    void forking_and_closing_under_other_scoped_values_are_structure_violations(Kind kind) throws Exception {
        ScopedValue<String> value = ScopedValue.newInstance();
        var scope = Opened.of(kind, Joiner.<String>allSuccessfulOrThrow());
        ScopedValue.where(value, "bound").run(() -> {
            assertThatThrownBy(() -> scope.fork(value::get)).isInstanceOf(StructureViolationException.class);
            assertThatThrownBy(scope::close).isInstanceOf(StructureViolationException.class);
        });
    }
}
