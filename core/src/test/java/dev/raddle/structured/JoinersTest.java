package dev.raddle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.Kind;
import dev.raddle.structured.StructuredTaskScope.Joiner;
import dev.raddle.structured.StructuredTaskScope.Subtask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The joiners that the JDK provides too: the rows N8, N9 and N11. */
class JoinersTest {

    /** An exception of the caller's, made from that of a subtask. */
    private static final class Wrapped extends Exception {
        private static final long serialVersionUID = 1L;

        Wrapped(Throwable cause) {
            super(cause);
        }
    }

    // N8

    @ParameterizedTest
    @EnumSource
    void all_successful_lists_the_results_in_the_order_of_the_forks(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String>allSuccessfulOrThrow())) {
            CountDownLatch second = new CountDownLatch(1);
            scope.fork(() -> {
                second.await();
                return "one";
            });
            scope.fork(() -> {
                second.countDown();
                return null;
            });
            scope.fork(() -> "three");
            List<String> results = scope.join();

            assertThat(results).containsExactly("one", null, "three");
        }
        try (var scope = Opened.of(kind, Joiner.<String>allSuccessfulOrThrow())) {
            assertThat(scope.join()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_failure_cancels_the_others_and_is_passed_to_the_function(Kind kind) throws Exception {
        List<Function<Function<Throwable, Wrapped>, Joiner<String, ?, Wrapped>>> both =
                List.of(Joiner::allSuccessfulOrThrow, Joiner::awaitAllSuccessfulOrThrow);
        for (var joiner : both) {
            List<Throwable> applied = new CopyOnWriteArrayList<>();
            try (var scope = Opened.of(kind, joiner.apply(cause -> {
                applied.add(cause);
                return new Wrapped(cause);
            }))) {
                CountDownLatch failed = new CountDownLatch(1);
                scope.fork(() -> {
                    try {
                        return Opened.<String>forever();
                    } finally {
                        failed.await();
                    }
                });
                scope.fork(() -> Opened.<String>fail("first"));
                assertThatThrownBy(scope::join)
                        .isInstanceOf(Wrapped.class)
                        .cause()
                        .hasMessage("first");
                failed.countDown();
                assertThat(scope.isCancelled()).isTrue();
            }
            assertThat(applied).hasSize(1);
        }
    }

    @Test
    void await_all_successful_returns_null() throws Exception {
        try (var scope = StructuredTaskScope.open(Joiner.<String>awaitAllSuccessfulOrThrow())) {
            scope.fork(() -> "value");
            assertThat(scope.join()).isNull();
        }
    }

    // N9

    @ParameterizedTest
    @EnumSource
    void any_successful_returns_the_first_success_and_cancels_the_rest(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> Opened.<String>forever());
            Subtask<String> failed = scope.fork(() -> Opened.<String>fail("planned"));
            while (failed.state() == Subtask.State.UNAVAILABLE) {
                Thread.onSpinWait();
            }
            scope.fork(() -> "value");

            assertThat(scope.join()).isEqualTo("value");
            assertThat(scope.isCancelled()).isTrue();
        }
        try (var scope = Opened.of(kind, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> (String) null);
            assertThat(scope.join()).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void if_all_fail_the_function_is_applied_to_one_of_the_failures(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String, Wrapped>anySuccessfulOrThrow(Wrapped::new))) {
            scope.fork(() -> Opened.<String>fail("one"));
            scope.fork(() -> Opened.<String>fail("two"));
            assertThatThrownBy(scope::join)
                    .isInstanceOf(Wrapped.class)
                    .cause()
                    .message()
                    .isIn("one", "two");
        }
        try (var scope = Opened.of(kind, Joiner.<String>anySuccessfulOrThrow())) {
            scope.fork(() -> Opened.<String>fail("one"));
            assertThatThrownBy(scope::join)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ArithmeticException.class);
        }
    }

    @Test
    void without_forks_any_successful_applies_the_function_to_a_NoSuchElementException() throws Exception {
        try (var scope = StructuredTaskScope.open(Joiner.<String, Wrapped>anySuccessfulOrThrow(Wrapped::new))) {
            assertThatThrownBy(scope::join)
                    .isInstanceOf(Wrapped.class)
                    .hasCauseInstanceOf(NoSuchElementException.class);
        }
    }

    // N11

    @ParameterizedTest
    @EnumSource
    void all_until_lists_all_subtasks_when_all_have_completed(Kind kind) throws Exception {
        try (var scope = Opened.of(kind, Joiner.<String>allUntil(subtask -> false))) {
            Subtask<String> failed = scope.fork(() -> Opened.<String>fail("planned"));
            Subtask<String> done = scope.fork(() -> "value");
            List<Subtask<String>> subtasks = scope.join();

            assertThat(subtasks).containsExactly(failed, done);
            assertThat(failed.exception()).hasMessage("planned");
            assertThat(done.get()).isEqualTo("value");
            assertThat(scope.isCancelled()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_until_cancels_when_the_predicate_is_true_in_the_thread_of_a_subtask(Kind kind) throws Exception {
        AtomicInteger failures = new AtomicInteger();
        List<Thread> callers = new CopyOnWriteArrayList<>();
        List<Thread> runners = new CopyOnWriteArrayList<>();
        Joiner<String, List<Subtask<String>>, RuntimeException> twoFailures = Joiner.allUntil(subtask -> {
            callers.add(Thread.currentThread());
            return subtask.exception() != null && failures.incrementAndGet() == 2;
        });
        try (var scope = Opened.of(kind, twoFailures)) {
            for (int i = 0; i < 3; i++) {
                boolean fails = i != 1;
                scope.fork(() -> {
                    if (fails) {
                        runners.add(Thread.currentThread());
                        return Opened.fail("planned");
                    }
                    return Opened.<String>forever();
                });
            }
            assertThat(scope.join().stream().map(Subtask::state))
                    .containsExactly(Subtask.State.FAILED, Subtask.State.UNAVAILABLE, Subtask.State.FAILED);
        }
        assertThat(callers).containsExactlyInAnyOrderElementsOf(runners);
    }

    @Test
    void all_until_does_not_throw_for_a_timeout() throws Exception {
        VirtualTime time = new VirtualTime();
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>allUntil(subtask -> false),
                config -> config.withOptions(Kind.JDK_VIRTUAL.options().withTimeSource(time))
                        .withTimeout(Duration.ofMillis(200)))) {
            Subtask<String> slow = scope.fork(() -> Opened.<String>forever());
            time.advance(Duration.ofMillis(200));
            assertThat(scope.join()).containsExactly(slow);
            assertThat(slow.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_the_predicate_throws_goes_to_the_uncaught_exception_handler(Kind kind) throws Exception {
        List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        try (var scope = StructuredTaskScope.open(
                Joiner.<String>allUntil(subtask -> Opened.fail(subtask.get())),
                config -> config.withOptions(kind.options()).withThreadFactory(run -> {
                    Thread thread = kind.factory.newThread(run);
                    thread.setUncaughtExceptionHandler((ignored, failure) -> uncaught.add(failure));
                    return thread;
                }))) {
            Subtask<String> done = scope.fork(() -> "value");
            assertThat(scope.join()).containsExactly(done);
            assertThat(done.get()).isEqualTo("value");
        }
        assertThat(uncaught).singleElement().satisfies(each -> assertThat(each).hasMessage("value"));
    }
}
