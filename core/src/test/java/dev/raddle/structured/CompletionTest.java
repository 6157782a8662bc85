package dev.raddle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.Kind;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import dev.raddle.testing.Wait;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What follows the end of a subtask: the rows N4, N5 and N12. */
class CompletionTest {

    // N4

    @ParameterizedTest
    @EnumSource
    void onComplete_is_called_before_the_owner_sees_the_end(Kind kind) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onComplete(Subtask<String> subtask) {
                entered.countDown();
                Wait.uninterruptibly(leave);
                return super.onComplete(subtask);
            }
        };
        try (var scope = Opened.of(kind, joiner)) {
            scope.fork(() -> Opened.<String>fail("planned"));
            entered.await();
            Thread.currentThread().interrupt(); // otherwise the join would wait
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            leave.countDown();
            assertThat(scope.join()).isEqualTo("result");
        }
        assertThat(joiner.calls)
                .containsExactly("onFork UNAVAILABLE by owner", "onComplete FAILED by subtask", "result by owner");
    }

    @ParameterizedTest
    @EnumSource
    void onComplete_is_not_called_for_what_ends_after_the_cancel(Kind kind) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onComplete(Subtask<String> subtask) {
                super.onComplete(subtask);
                return true;
            }
        };
        try (var scope = Opened.of(kind, joiner)) {
            Subtask<String> late = scope.fork(() -> {
                begun.countDown();
                return Opened.forever();
            });
            begun.await();
            Subtask<String> first = scope.fork(() -> "value");
            assertThat(scope.join()).isEqualTo("result");
            assertThat(scope.isCancelled()).isTrue();
            assertThat(first.get()).isEqualTo("value");
            scope.close();

            assertThat(late.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
        assertThat(joiner.calls)
                .filteredOn(call -> call.startsWith("onComplete"))
                .hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void what_onComplete_throws_goes_to_the_uncaught_exception_handler_and_the_scope_goes_on(Kind kind)
            throws Exception {
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        ThreadFactory factory = run -> {
            Thread thread = kind.factory.newThread(run);
            thread.setUncaughtExceptionHandler((ignored, failure) -> uncaught.add(failure));
            return thread;
        };
        var joiner = new Opened.Recording<String>() {
            @Override
            public boolean onComplete(Subtask<String> subtask) {
                return Opened.fail(subtask.get());
            }
        };
        try (var scope = StructuredTaskScope.open(
                joiner, config -> config.withOptions(kind.options()).withThreadFactory(factory))) {
            Subtask<String> one = scope.fork(() -> "one");
            assertThat(scope.join()).isEqualTo("result");
            assertThat(one.get()).isEqualTo("one");
            assertThat(scope.isCancelled()).isFalse();
        }
        assertThat(uncaught).singleElement().satisfies(each -> assertThat(each).hasMessage("one"));
    }

    @Test
    void the_defaults_of_a_joiner_check_the_state() throws Exception {
        Joiner<String, List<Subtask<String>>, RuntimeException> joiner = Joiner.allUntil(subtask -> false);
        AtomicReference<Subtask<String>> done = new AtomicReference<>();
        try (var scope = StructuredTaskScope.open(joiner)) {
            Subtask<String> running = scope.fork(() -> {
                while (done.get() == null) {
                    Thread.onSpinWait();
                }
                return "value";
            });
            assertThatIllegalArgumentException().isThrownBy(() -> joiner.onComplete(running));
            done.set(running);
            scope.join();
            assertThatIllegalArgumentException().isThrownBy(() -> joiner.onFork(running));
            assertThat(joiner.onComplete(running)).isFalse();
        }
    }

    // N5

    @ParameterizedTest
    @EnumSource
    void a_cancel_interrupts_unfinished_subtasks_once_and_isCancelled_is_true_by_then(Kind kind) throws Exception {
        AtomicInteger interrupts = new AtomicInteger();
        List<Boolean> seen = new CopyOnWriteArrayList<>();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (var scope = Opened.of(kind, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> {
                begun.countDown();
                try {
                    return Opened.<String>forever();
                } catch (InterruptedException interrupt) {
                    seen.add(scope.isCancelled());
                    interrupts.incrementAndGet();
                }
                Wait.uninterruptibly(end);
                if (Thread.interrupted()) {
                    interrupts.incrementAndGet();
                }
                return "late";
            });
            begun.await();
            assertThat(scope.isCancelled()).isFalse();
            scope.fork(() -> "value");
            assertThat(scope.join()).isEqualTo("value"); // without waiting for the other
            end.countDown();
        } // closing does not interrupt again
        assertThat(interrupts).hasValue(1);
        assertThat(seen).containsExactly(true);
    }

    // N12

    @ParameterizedTest
    @EnumSource
    void no_thread_reads_a_result_before_the_owner_has_joined(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String>allUntil(subtask -> false))) {
            Subtask<String> success = scope.fork(() -> "value");
            Subtask<String> failure = scope.fork(() -> Opened.<String>fail("planned"));
            Wait.until(() -> success.state() == Subtask.State.SUCCESS && failure.state() == Subtask.State.FAILED);
            assertThatIllegalStateException().isThrownBy(success::get);
            assertThatIllegalStateException().isThrownBy(failure::exception);
            Subtask<String> sibling = scope.fork(() -> {
                assertThatIllegalStateException().isThrownBy(success::get);
                assertThatIllegalStateException().isThrownBy(failure::exception);
                return "asked";
            });
            Thread stranger = Thread.ofPlatform().unstarted(() -> {
                assertThatIllegalStateException().isThrownBy(success::get);
                assertThatCode(sibling::toString).doesNotThrowAnyException();
            });
            List<Throwable> uncaught = new CopyOnWriteArrayList<>();
            stranger.setUncaughtExceptionHandler((thread, failed) -> uncaught.add(failed));
            stranger.start();
            stranger.join();
            scope.join();

            assertThat(uncaught).isEmpty();
            assertThat(sibling.get()).isEqualTo("asked");
            assertThat(success.get()).isEqualTo("value");
            assertThat(failure.exception()).isInstanceOf(ArithmeticException.class);
            assertThatIllegalStateException().isThrownBy(success::exception);
            assertThatIllegalStateException().isThrownBy(failure::get);
            assertThat(success.toString()).contains("Completed successfully");
            assertThat(failure.toString()).contains("Failed", "planned");
        }
    }

    @Test
    void results_are_not_readable_after_a_close_without_a_completed_join() {
        var scope = StructuredTaskScope.<String>open();
        Subtask<String> done = scope.fork(() -> "value");
        Wait.until(() -> done.state() == Subtask.State.SUCCESS);
        assertThatIllegalStateException().isThrownBy(scope::close);

        assertThatIllegalStateException().isThrownBy(done::get);
    }

    @ParameterizedTest
    @EnumSource
    void a_joiner_reads_results_in_onComplete_in_result_and_in_timeout(Kind kind) throws Exception {
        Joiner<Integer, Integer, ExecutionException> largest = new Joiner<>() {
            private final AtomicReference<Subtask<Integer>> best = new AtomicReference<>();

            @Override
            public boolean onComplete(Subtask<Integer> subtask) {
                best.accumulateAndGet(subtask, (old, each) -> old == null || old.get() < each.get() ? each : old);
                return false;
            }

            @Override
            public Integer result() {
                return best.get().get();
            }

            @Override
            public Integer timeout() {
                return -best.get().get();
            }
        };
        try (var scope = Opened.of(kind, largest)) {
            for (int i = 0; i < 20; i++) {
                int number = i;
                scope.fork(() -> number);
            }
            assertThat(scope.join()).isEqualTo(19);
        }
    }
}
