package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttemptsTest {

    private static Attempts<Object> failing(RetryPolicy policy) {
        AtomicInteger calls = new AtomicInteger();
        return new Attempts<>(
                all -> {
                    throw new IOException("" + calls.incrementAndGet());
                },
                policy,
                () -> false,
                new VirtualTime(),
                "t",
                null,
                Runnable::run);
    }

    private static void assertSuppressed(Throwable thrown, IntStream expected) {
        assertThat(thrown.getSuppressed())
                .extracting(Throwable::getMessage)
                .containsExactly(expected.mapToObj(Integer::toString).toArray(String[]::new));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 16, 17})
    void all_failures_before_the_last_are_suppressed_exceptions_of_it_if_they_are_few(int attempts) {
        assertThatThrownBy(failing(RetryPolicy.attempts(attempts))::call)
                .hasMessage("" + attempts)
                .satisfies(last -> assertSuppressed(last, IntStream.range(1, attempts)));
    }

    @ParameterizedTest
    @ValueSource(ints = {18, 1_000})
    void only_the_first_and_the_latest_of_many_failures_are_retained(int attempts) {
        assertThatThrownBy(failing(RetryPolicy.attempts(attempts))::call)
                .hasMessage("" + attempts)
                .satisfies(last -> assertSuppressed(
                        last, IntStream.concat(IntStream.range(1, 9), IntStream.range(attempts - 8, attempts))));
    }

    @Test
    void after_an_attempt_that_ends_after_the_limit_no_time_is_left() {
        VirtualTime time = new VirtualTime();
        TimeLimit limit = TimeLimit.of(time, Duration.ofMillis(50), null);
        time.advance(Duration.ofMillis(57));

        assertThat(Attempts.noTimeFor(Duration.ZERO, "t", 1, 3, limit, new IOException(), List.of()))
                .hasMessage(
                        "task \"t\" gave up after attempt 1 of 3: the next would begin in 0 ms, and of its 50 ms only"
                                + " 0 ms are left");
    }

    @Test
    void an_exception_of_the_policy_has_the_first_and_the_latest_failures_as_suppressed_exceptions() {
        IllegalStateException broken = new IllegalStateException("policy");
        RetryPolicy policy = RetryPolicy.builder()
                .maxAttempts(Integer.MAX_VALUE)
                .retryIf((attempt, failure) -> {
                    if (attempt == 100) {
                        throw broken;
                    }
                    return true;
                })
                .build();

        assertThatThrownBy(failing(policy)::call)
                .isSameAs(broken)
                .satisfies(thrown ->
                        assertSuppressed(thrown, IntStream.concat(IntStream.range(1, 9), IntStream.range(93, 101))));
    }
}
