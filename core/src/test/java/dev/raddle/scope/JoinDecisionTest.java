package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JoinDecisionTest {

    private static final Exception FIRST = new IOException("first");
    private static final Exception SECOND = new IOException("second");

    @Test
    void the_first_success_decides_and_beats_an_earlier_failure() throws Exception {
        JoinDecision<@Nullable String, Exception> decision = new JoinDecision<>(1, JoinDecision.ALL);

        assertThat(decision.failed(FIRST)).isFalse();
        assertThat(decision.succeeded(null)).isTrue();
        assertThat(decision.succeeded("late")).isFalse();
        assertThat(decision.failed(SECOND)).isFalse();

        assertThat(decision.isOver()).isTrue();
        assertThat(decision.firstSuccess(Function.identity(), IllegalStateException::new))
                .isNull();
    }

    @Test
    void without_a_success_the_first_of_any_number_of_failures_is_kept() {
        JoinDecision<String, Exception> decision = new JoinDecision<>(1, JoinDecision.ALL);
        assertThatThrownBy(() -> decision.firstSuccess(Function.identity(), NoSuchElementException::new))
                .isInstanceOf(NoSuchElementException.class);

        decision.failed(FIRST);
        decision.failed(SECOND);

        assertThat(decision.isOver()).isFalse();
        assertThat(decision.failures()).containsExactly(FIRST);
        assertThatThrownBy(() -> decision.firstSuccess(Function.identity(), NoSuchElementException::new))
                .isSameAs(FIRST);
    }

    @Test
    void the_first_failure_decides_and_no_success_does() {
        JoinDecision<String, Exception> decision = new JoinDecision<>(JoinDecision.ALL, 0);

        assertThat(decision.succeeded("early")).isFalse();
        assertThat(decision.firstFailure()).isNull();
        assertThat(decision.failed(FIRST)).isTrue();
        assertThat(decision.failed(SECOND)).isFalse();

        assertThat(decision.isDecidedBy(FIRST)).isTrue();
        assertThat(decision.isDecidedBy(SECOND)).isFalse();
        assertThatThrownBy(() -> decision.throwIfFailed(Function.identity())).isSameAs(FIRST);
        assertThatThrownBy(() -> decision.throwIfFailed(failure -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("esf returned null");
    }

    @Test
    void a_quorum_is_decided_by_its_last_success() {
        JoinDecision<Integer, Exception> decision = new JoinDecision<>(2, 1);

        assertThat(decision.succeeded(7)).isFalse();
        assertThat(decision.failed(FIRST)).isFalse();
        assertThat(decision.hasSucceeded()).isFalse();
        assertThat(decision.succeeded(8)).isTrue();
        assertThat(decision.succeeded(9)).isFalse();

        assertThat(decision.hasSucceeded()).isTrue();
        assertThat(decision.successes()).containsExactly(7, 8);
    }

    @Test
    void a_quorum_is_decided_by_one_failure_more_than_it_tolerates() {
        JoinDecision<Integer, Exception> decision = new JoinDecision<>(2, 1);

        assertThat(decision.failed(FIRST)).isFalse();
        assertThat(decision.failed(SECOND)).isTrue();
        assertThat(decision.succeeded(1)).isFalse();

        assertThat(decision.hasSucceeded()).isFalse();
        assertThat(decision.failures()).containsExactly(FIRST, SECOND);
    }

    @Test
    void an_ended_join_is_decided_by_no_completion() {
        JoinDecision<String, Exception> decision = new JoinDecision<>(1, 0);
        decision.end();

        assertThat(decision.failed(FIRST)).isFalse();
        assertThat(decision.succeeded("late")).isFalse();
        assertThat(decision.isDecidedBy(FIRST)).isFalse();
        assertThat(decision.firstFailure()).isNull();
    }

    @Test
    void a_cleared_join_keeps_no_completion() {
        JoinDecision<String, Exception> decision = new JoinDecision<>(JoinDecision.ALL, 0);
        decision.failed(FIRST);

        decision.clear();

        assertThat(decision.isDecidedBy(FIRST)).isFalse();
        assertThat(decision.failures()).isEmpty();
    }
}
