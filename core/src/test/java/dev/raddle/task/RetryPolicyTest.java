package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {

    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final long LONGEST = Long.MAX_VALUE >> 1;

    private final Exception failure = new IOException();

    private long delay(RetryPolicy policy, int attempt) {
        return policy.delayNanos(attempt, failure);
    }

    @Test
    void there_is_one_attempt_by_default() {
        assertThat(RetryPolicy.noRetry().maxAttempts()).isEqualTo(1);
        assertThat(RetryPolicy.noRetry()).isSameAs(RetryPolicy.noRetry()).hasToString("retry policy, 1 attempt");
        assertThat(RetryPolicy.builder().build().maxAttempts()).isEqualTo(1);
        assertThat(RetryPolicy.attempts(3)).hasToString("retry policy, 3 attempts at most");
        assertThat(RetryPolicy.noRetry().allowsRetry(1, failure)).isFalse();
    }

    @Test
    void attempts_are_limited_and_some_failures_are_never_retried() {
        RetryPolicy policy = RetryPolicy.attempts(3);
        assertThat(policy.allowsRetry(1, failure)).isTrue();
        assertThat(policy.allowsRetry(2, failure)).isTrue();
        assertThat(policy.allowsRetry(3, failure)).isFalse();
        assertThat(policy.allowsRetry(1, new StackOverflowError())).isFalse();
        assertThat(policy.allowsRetry(1, new InterruptedException())).isFalse();
        assertThat(policy.allowsRetry(1, new CancellationException())).isFalse();
        assertThat(policy.allowsRetry(1, new CancelledException("c"))).isFalse();
        assertThat(delay(policy, 1)).isZero();
    }

    @Test
    void a_fixed_delay_is_the_same_after_every_failure() {
        RetryPolicy policy = RetryPolicy.fixedDelay(9, Duration.ofMillis(50));
        for (int attempt = 1; attempt < 9; attempt++) {
            assertThat(delay(policy, attempt)).isEqualTo(50_000_000);
        }
    }

    @Test
    void an_exponential_delay_grows_by_its_factor_up_to_its_maximum() {
        RetryPolicy policy = RetryPolicy.exponentialBackoff(99, Duration.ofNanos(100), 1.5, Duration.ofNanos(300));
        assertThat(delay(policy, 1)).isEqualTo(100);
        assertThat(delay(policy, 2)).isEqualTo(150);
        assertThat(delay(policy, 3)).isEqualTo(225);
        assertThat(delay(policy, 4)).isEqualTo(300);
        assertThat(delay(policy, 98)).isEqualTo(300);
        RetryPolicy steady = RetryPolicy.exponentialBackoff(9, Duration.ofNanos(7), 1, Duration.ofNanos(9));
        assertThat(delay(steady, 8)).isEqualTo(7);
        RetryPolicy capped = RetryPolicy.exponentialBackoff(9, Duration.ofSeconds(2), 2, Duration.ofSeconds(1));
        assertThat(delay(capped, 1)).isEqualTo(1_000_000_000);
    }

    @Test
    void no_delay_overflows() {
        int maxAttempts = Integer.MAX_VALUE;
        assertThat(delay(RetryPolicy.fixedDelay(maxAttempts, FOREVER), maxAttempts))
                .isEqualTo(LONGEST);
        for (double factor : new double[] {1, 2, 1e300, Double.POSITIVE_INFINITY}) {
            RetryPolicy growing = RetryPolicy.exponentialBackoff(maxAttempts, Duration.ofNanos(3), factor, FOREVER);
            for (int attempt : new int[] {1, 2, 63, 64, 65, 1_000, maxAttempts}) {
                assertThat(delay(growing, attempt)).isBetween(3L, LONGEST);
            }
            RetryPolicy longest = RetryPolicy.exponentialBackoff(maxAttempts, FOREVER, factor, FOREVER);
            assertThat(delay(longest, 2)).isEqualTo(LONGEST);
            RetryPolicy none = RetryPolicy.exponentialBackoff(maxAttempts, Duration.ZERO, factor, FOREVER);
            assertThat(delay(none, maxAttempts)).isZero();
        }
    }

    @Test
    void full_jitter_chooses_any_delay_from_zero_to_the_full_length() {
        RetryPolicy policy = RetryPolicy.builder()
                .maxAttempts(9)
                .fixedDelay(Duration.ofNanos(3))
                .fullJitter()
                .build();
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 2_000; i++) {
            seen.add(delay(policy, 1));
        }
        assertThat(seen).containsExactlyInAnyOrder(0L, 1L, 2L, 3L);
        RetryPolicy longest = RetryPolicy.builder()
                .maxAttempts(9)
                .fixedDelay(FOREVER)
                .fullJitter()
                .build();
        for (int i = 0; i < 1_000; i++) {
            assertThat(delay(longest, 1)).isBetween(0L, LONGEST);
        }
        RetryPolicy none = RetryPolicy.builder().maxAttempts(9).fullJitter().build();
        assertThat(delay(none, 1)).isZero();
    }

    @Test
    void a_negative_delay_means_none() {
        RetryPolicy policy = RetryPolicy.builder()
                .maxAttempts(3)
                .backoff((attempt, thrown) -> Duration.ofSeconds(-attempt))
                .build();
        assertThat(delay(policy, 2)).isZero();
    }

    @Test
    void invalid_arguments_are_refused_with_the_value_found() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.attempts(0))
                .withMessage("maxAttempts must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fixedDelay(2, Duration.ofSeconds(-1)))
                .withMessage("delay must not be negative, was PT-1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.exponentialBackoff(2, Duration.ofSeconds(-1), 2, Duration.ZERO))
                .withMessage("first must not be negative, was PT-1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.exponentialBackoff(2, Duration.ZERO, 2, Duration.ofSeconds(-1)))
                .withMessage("max must not be negative, was PT-1S");
        for (double factor : new double[] {0.9, -1, Double.NaN, Double.NEGATIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RetryPolicy.exponentialBackoff(2, Duration.ZERO, factor, Duration.ZERO))
                    .withMessage("factor must be at least 1, was " + factor);
        }
        assertThatNullPointerException().isThrownBy(() -> RetryPolicy.builder().retryIf(null));
        assertThatNullPointerException().isThrownBy(() -> RetryPolicy.builder().backoff(null));
    }
}
