package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;

class OutcomeTest {

    @Test
    void after_an_interrupt_or_a_cancellation_the_outcome_is_cancelled_with_the_exception_as_the_cause() {
        List<Throwable> cancellations =
                List.of(new InterruptedException(), new CancellationException(), new CancelledException("not needed"));
        for (Throwable thrown : cancellations) {
            assertThat(Outcome.ofThrown(thrown)).isEqualTo(new Outcome.Cancelled<>(thrown));
        }
    }

    @Test
    void after_any_other_throwable_including_errors_the_outcome_is_a_failure() {
        List<Throwable> failures = List.of(
                new IllegalStateException(),
                new Exception(),
                new OutOfMemoryError(),
                new StackOverflowError(),
                new Throwable());
        for (Throwable thrown : failures) {
            assertThat(Outcome.ofThrown(thrown)).isEqualTo(new Outcome.Failure<>(thrown));
        }
    }

    @Test
    void every_outcome_has_a_status() {
        assertThat(new Outcome.Success<>(null).status()).isEqualTo(TaskStatus.SUCCESS);
        assertThat(new Outcome.Failure<>(new Error()).status()).isEqualTo(TaskStatus.FAILED);
        assertThat(new Outcome.Cancelled<>(new InterruptedException()).status()).isEqualTo(TaskStatus.CANCELLED);
        assertThat(new Outcome.Rejected<>(Rejection.of(Rejection.Reason.OTHER, "full")).status())
                .isEqualTo(TaskStatus.REJECTED);
        assertThat(new Outcome.Skipped<>("not needed").status()).isEqualTo(TaskStatus.SKIPPED);
    }

    @Test
    void a_cancelled_exception_has_the_reason_and_no_stack_trace() {
        CancelledException cancelled = new CancelledException("the scope was closed");

        assertThat(cancelled).hasMessage("the scope was closed");
        assertThat(cancelled.getStackTrace()).isEmpty();
    }
}
