package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class TaskSpecTest {

    private final Callable<String> callable = () -> "hi";

    @Test
    void a_named_spec_has_a_cost_of_one_and_no_other_options() {
        TaskSpec<String> plain = TaskSpec.named("rank", callable);

        assertThat(plain.name()).isEqualTo("rank");
        assertThat(plain.callable()).isSameAs(callable);
        assertIsPlain(plain);
    }

    private static void assertIsPlain(TaskSpec<?> spec) {
        assertThat(spec.cost()).isEqualTo(1);
        assertThat(spec.priorityOr(7)).isEqualTo(7);
        assertThat(spec.queueTimeout()).isNull();
        assertThat(spec.retry()).isNull();
        assertThat(spec.timeout()).isNull();
    }

    @Test
    void each_change_returns_a_new_spec_with_the_other_options_unchanged() {
        TaskSpec<String> plain = TaskSpec.named("rank", callable);
        TaskSpec<String> changed = plain.priority(-5).cost(3).queueTimeout(Duration.ofMillis(200));

        assertThat(changed.name()).isEqualTo("rank");
        assertThat(changed.callable()).isSameAs(callable);
        assertThat(changed.priority(1).cost()).isEqualTo(3);
        assertThat(changed.cost(1).queueTimeout()).isEqualTo(Duration.ofMillis(200));
        assertThat(changed.queueTimeout(Duration.ZERO).priorityOr(0)).isEqualTo(-5);
        assertThat(changed.retry(RetryPolicy.noRetry())
                        .timeout(Duration.ofMillis(1))
                        .cost())
                .isEqualTo(3);
        assertIsPlain(plain);
    }

    @Test
    void a_name_a_callable_and_a_queue_timeout_must_not_be_null() {
        TaskSpec<String> plain = TaskSpec.named("rank", callable);

        assertThatNullPointerException()
                .isThrownBy(() -> TaskSpec.named(null, callable))
                .withMessage("name");
        assertThatNullPointerException()
                .isThrownBy(() -> TaskSpec.named("rank", (Callable<String>) null))
                .withMessage("callable");
        assertThatNullPointerException()
                .isThrownBy(() -> TaskSpec.named("rank", (Runnable) null))
                .withMessage("action");
        assertThatNullPointerException().isThrownBy(() -> plain.queueTimeout(null));
    }

    @Test
    void a_cost_below_one_is_refused_with_the_name_and_the_value() {
        TaskSpec<String> plain = TaskSpec.named("rank", callable);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.cost(0))
                .withMessage("cost of task \"rank\" must be at least 1, was 0");
        assertThatIllegalArgumentException().isThrownBy(() -> plain.cost(Integer.MIN_VALUE));
        assertThat(plain.cost(1).cost()).isEqualTo(1);
    }

    @Test
    void a_negative_queue_timeout_is_refused_with_the_name_and_the_value() {
        TaskSpec<String> plain = TaskSpec.named("rank", callable);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.queueTimeout(Duration.ofMillis(-1)))
                .withMessage("queueTimeout of task \"rank\" must not be negative, was PT-0.001S");
        assertThat(plain.queueTimeout(Duration.ZERO).queueTimeout()).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.timeout(Duration.ZERO))
                .withMessage("timeout of task \"rank\" must be positive, was PT0S");
    }

    @Test
    void specs_of_one_name_and_callable_with_equal_options_are_equal_and_show_them() {
        TaskSpec<String> spec = TaskSpec.named("rank", callable).cost(3).timeout(Duration.ofSeconds(1));

        assertThat(spec)
                .isEqualTo(TaskSpec.named("rank", callable)
                        .timeout(Duration.ofSeconds(1))
                        .cost(3))
                .hasSameHashCodeAs(TaskSpec.named("rank", callable).cost(3).timeout(Duration.ofSeconds(1)))
                .isNotEqualTo(spec.cost(2))
                .isNotEqualTo(spec.priority(1))
                .isNotEqualTo(spec.retry(RetryPolicy.attempts(2)))
                .isNotEqualTo(spec.queueTimeout(Duration.ZERO))
                .isNotEqualTo(spec.timeout(Duration.ofSeconds(2)))
                .isNotEqualTo(TaskSpec.named("other", callable).cost(3).timeout(Duration.ofSeconds(1)));
        assertThat(spec.toString()).contains("rank", "cost=3", "timeout=PT1S", callable.toString());
    }
}
