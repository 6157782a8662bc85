package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class FleetOptionsTest {

    @Test
    void the_defaults_are_a_lease_of_3_s_a_slice_of_20_ms_and_nothing_during_an_outage() {
        FleetOptions options = FleetOptions.defaults();

        assertThat(options.namespace()).isEqualTo("raddle");
        assertThat(options.lease()).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.slice()).isEqualTo(Duration.ofMillis(20));
        assertThat(options.outageMode()).isEqualTo(OutageMode.closed());
    }

    @Test
    void a_namespace_with_a_brace_is_refused_because_it_would_change_the_hash_slot() {
        assertThatThrownBy(() -> FleetOptions.builder().namespace("a}b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("namespace must be 1 to 64 letters")
                .hasMessageContaining("a}b");
    }

    @Test
    void a_lease_shorter_than_100_ms_is_refused() {
        assertThatThrownBy(() -> FleetOptions.builder().lease(Duration.ofMillis(99)))
                .hasMessageContaining("between PT0.1S and PT1H, was PT0.099S");
    }

    @Test
    void local_mode_needs_a_permit() {
        assertThatThrownBy(() -> OutageMode.local(0)).hasMessage("permits must be at least 1, was 0");
    }
}
