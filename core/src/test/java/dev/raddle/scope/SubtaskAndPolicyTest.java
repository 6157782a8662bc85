package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertIllegalState;
import static dev.raddle.scope.Tasks.assertWrongThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.ShutdownOnFailure;
import dev.raddle.scope.StructuredTaskScope.ShutdownOnSuccess;
import dev.raddle.scope.StructuredTaskScope.Subtask;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The states and results of subtasks, and the shutdown policies. */
class SubtaskAndPolicyTest {

    private static <T> T fail() {
        throw new ArithmeticException("first");
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_has_returned_is_a_success(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            Callable<String> task = () -> "value";
            var subtask = scope.fork(task);
            assertThat(subtask.task()).isSameAs(task);
            assertIllegalState(subtask::get);
            assertIllegalState(subtask::exception);
            scope.join();

            assertThat(subtask.task()).isSameAs(task);
            assertThat(subtask.state()).isEqualTo(Subtask.State.SUCCESS);
            assertThat(subtask.get()).isEqualTo("value");
            assertIllegalState(subtask::exception);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_has_thrown_is_a_failure(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var subtask = scope.fork(() -> SubtaskAndPolicyTest.<String>fail());
            var error = scope.fork((Callable<String>) () -> {
                throw new StackOverflowError("an error is an outcome, too");
            });
            assertIllegalState(subtask::exception);
            scope.join();

            assertThat(subtask.state()).isEqualTo(Subtask.State.FAILED);
            assertIllegalState(subtask::get);
            assertThat(subtask.exception()).isInstanceOf(ArithmeticException.class);
            assertThat(error.exception()).isInstanceOf(StackOverflowError.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_runs_is_unavailable(Kind kind) {
        try (StructuredTaskScope<String> scope = kind.open()) {
            Callable<String> task = Tasks::forever;
            var subtask = scope.fork(task);
            assertThat(subtask.task()).isSameAs(task);
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(subtask::get);
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);

            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(subtask::get);
            assertIllegalState(subtask::exception);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_forked_after_a_shutdown_is_unavailable(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            Callable<String> task = Tasks::forever;
            scope.shutdown();
            var subtask = scope.fork(task);
            scope.join();

            assertThat(subtask.task()).isSameAs(task);
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(subtask::get);
            assertIllegalState(subtask::exception);
        }
    }

    @ParameterizedTest
    @EnumSource
    void toString_of_a_subtask_has_its_state(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var success = scope.fork(() -> "value");
            var failure = scope.fork(() -> SubtaskAndPolicyTest.<String>fail());
            scope.join();
            var running = scope.fork(() -> Tasks.<String>forever());

            assertThat(success.toString()).contains("[Completed successfully]");
            assertThat(failure.toString()).contains("[Failed: java.lang.ArithmeticException: first]");
            assertThat(running.toString()).contains("[Unavailable]");
            scope.shutdown();
            assertThat(scope.fork(() -> "late").toString()).contains("Unavailable");
            scope.join();
        }
    }

    @Test
    void without_a_completed_subtask_there_is_no_result() {
        try (var scope = new ShutdownOnSuccess<>()) {
            assertIllegalState(scope::result);
            assertIllegalState(() -> scope.result(failure -> new IllegalArgumentException(failure)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_success_stays_the_result(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<String>(kind.options())) {
            scope.fork(() -> "one");
            scope.join();
            scope.fork(() -> "two");
            scope.join();

            assertThat(scope.result()).isEqualTo("one");
            assertThat(scope.result(IllegalStateException::new)).isEqualTo("one");
        }
    }

    @ParameterizedTest
    @EnumSource
    void null_is_a_result(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<Object>(kind.options())) {
            scope.fork(() -> null);
            assertThat(scope.joinUntil(Instant.MAX)).isSameAs(scope);

            assertThat(scope.result()).isNull();
            assertThat(scope.<RuntimeException>result(IllegalStateException::new))
                    .isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_success_beats_a_failure(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<String>(kind.options())) {
            scope.fork(SubtaskAndPolicyTest::fail);
            scope.join();
            scope.fork(() -> "value");
            scope.join();

            assertThat(scope.result()).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @EnumSource
    void with_failures_only_the_first_is_thrown(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<String>(kind.options())) {
            scope.fork(SubtaskAndPolicyTest::fail);
            scope.join();
            scope.fork(() -> {
                throw new IllegalArgumentException("second");
            });
            scope.join();

            assertThatThrownBy(scope::result)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
            assertThatThrownBy(() -> scope.result(IllegalStateException::new))
                    .isInstanceOf(IllegalStateException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_result_is_read_by_the_owner_after_joining(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<Boolean>(kind.options())) {
            var subtask = scope.fork(() -> {
                assertWrongThread(scope::result);
                assertWrongThread(() -> scope.result(IllegalStateException::new));
                return true;
            });
            assertIllegalState(scope::result);
            assertThatThrownBy(() -> scope.result(IllegalArgumentException::new))
                    .isInstanceOf(IllegalStateException.class);
            scope.join();

            assertThat(subtask.get()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void further_successes_and_failures_change_nothing(Kind kind) throws Exception {
        try (var scope = new ShutdownOnSuccess<String>(kind.options())) {
            var one = scope.fork(() -> "one");
            scope.join();
            scope.handleComplete(one); // as if this subtask had ended at the same time

            assertThat(scope.result()).isEqualTo("one");
        }
    }

    @Test
    void without_subtasks_nothing_has_failed() throws Exception {
        try (var scope = new ShutdownOnFailure()) {
            assertThat(scope.exception()).isEmpty();
            scope.throwIfFailed();
            scope.<RuntimeException>throwIfFailed(IllegalStateException::new);
        }
    }

    @ParameterizedTest
    @EnumSource
    void if_all_succeed_nothing_has_failed(Kind kind) throws Exception {
        try (var scope = new ShutdownOnFailure(kind.options())) {
            scope.fork(() -> "one");
            scope.fork(() -> "two");
            scope.joinUntil(Instant.MAX);

            assertThat(scope.exception()).isEmpty();
            scope.throwIfFailed();
            scope.<RuntimeException>throwIfFailed(IllegalStateException::new);
            assertThat(scope.isShutdown()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_shuts_down_and_is_thrown(Kind kind) throws Exception {
        try (var scope = new ShutdownOnFailure(kind.options())) {
            var never = scope.fork(Tasks::forever);
            scope.fork(() -> "value");
            scope.fork(SubtaskAndPolicyTest::fail);
            scope.join();

            assertThat(never.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertThat(scope.exception()).containsInstanceOf(ArithmeticException.class);
            assertThatThrownBy(scope::throwIfFailed)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
            assertThatThrownBy(() -> scope.throwIfFailed(IllegalStateException::new))
                    .isInstanceOf(IllegalStateException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_is_read_by_the_owner_after_joining(Kind kind) throws Exception {
        try (var scope = new ShutdownOnFailure(kind.options())) {
            var subtask = scope.fork(() -> {
                assertWrongThread(scope::exception);
                assertWrongThread(scope::throwIfFailed);
                return true;
            });
            assertIllegalState(scope::exception);
            assertIllegalState(scope::throwIfFailed);
            assertThatThrownBy(() -> scope.throwIfFailed(IllegalArgumentException::new))
                    .isInstanceOf(IllegalStateException.class);
            scope.join();

            assertThat(subtask.get()).isTrue();
        }
    }

    private static void assertNullRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable action) {
        assertThatThrownBy(action).isInstanceOf(NullPointerException.class);
    }

    @Test
    void nulls_are_rejected() {
        assertNullRefused(() -> new StructuredTaskScope<>("", null));
        assertNullRefused(() -> new ShutdownOnSuccess<>("", null));
        assertNullRefused(() -> new ShutdownOnFailure("", null));
        try (var scope = new StructuredTaskScope<>()) {
            assertNullRefused(() -> scope.fork(null));
            assertNullRefused(() -> scope.joinUntil(null));
        }
        try (var scope = new ShutdownOnSuccess<>("named", Thread.ofVirtual().factory())) {
            assertNullRefused(() -> scope.joinUntil(null));
            assertNullRefused(() -> scope.result(null));
        }
        try (var scope = new ShutdownOnFailure("named", Thread.ofVirtual().factory())) {
            assertNullRefused(() -> scope.joinUntil(null));
            assertNullRefused(() -> scope.throwIfFailed(null));
        }
        assertNullRefused(() -> StructuredScopeOptions.defaults().withThreadFactory(null));
    }

    @Test
    void a_violation_can_be_created_without_a_message_as_in_the_jdk() {
        assertThat(new StructureViolationException()).hasMessage(null).hasNoCause();
        assertThat(new StructureViolationException("why")).hasMessage("why").hasNoCause();
    }
}
