package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ExitCodeTest {
    private final Stop stop = new Stop(Duration.ZERO);

    private int of(int failed, int timedOut, int rejected, int cancelled) {
        return ExitCode.of(new Counts(9, 1, failed, timedOut, rejected, cancelled, 0, 9, 0, 0, 1), stop, false);
    }

    @Test
    void failed_takes_precedence_over_timed_out_and_that_over_rejected() {
        assertThat(of(0, 0, 0, 0)).isEqualTo(0);
        assertThat(of(1, 1, 1, 0)).isEqualTo(1);
        assertThat(of(0, 1, 1, 0)).isEqualTo(124);
        assertThat(of(0, 0, 1, 0)).isEqualTo(3);
    }

    @Test
    void an_interrupt_takes_precedence_even_if_it_was_second() {
        stop.request(Stop.Reason.FAIL_FAST);
        assertThat(of(1, 0, 0, 5)).isEqualTo(1);

        stop.request(Stop.Reason.INTERRUPTED);
        assertThat(of(1, 1, 1, 5)).isEqualTo(130);

        stop.request(Stop.Reason.FAIL_FAST);
        assertThat(of(0, 0, 0, 0)).isEqualTo(130);
    }

    @Test
    void sigterm_counts_as_an_interrupt() {
        stop.drain();
        assertThat(of(1, 0, 0, 5)).isEqualTo(130);
    }

    @Test
    void a_run_that_timed_out_takes_precedence_over_its_failures_unless_all_had_ended() {
        stop.request(Stop.Reason.TIMED_OUT);
        assertThat(of(1, 1, 1, 1)).isEqualTo(124);
        assertThat(of(1, 0, 0, 0)).isEqualTo(1);
        assertThat(of(0, 0, 0, 0)).isEqualTo(0);
    }

    @Test
    void a_closed_output_has_its_own_exit_code() {
        stop.request(Stop.Reason.OUTPUT_CLOSED);
        assertThat(of(1, 0, 0, 1)).isEqualTo(141);
    }
}
