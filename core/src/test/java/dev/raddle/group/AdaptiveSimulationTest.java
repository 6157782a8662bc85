package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.AdaptiveQuality.Day;
import dev.raddle.group.AdaptiveQuality.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Adaptive limits in front of a simulated callee, compared with the best fixed limit. {@code ./dev plot} has more. */
class AdaptiveSimulationTest {

    @ParameterizedTest
    @ValueSource(ints = {10, 20})
    void a_gradient_limit_comes_near_the_best_fixed_limit_within_30_s_also_when_the_capacity_halves_or_doubles(
            int servers) {
        for (double load : AdaptiveQuality.LOADS) {
            for (int seed = 0; seed < (load == 0 ? 20 : 5); seed++) {
                Step step = AdaptiveQuality.steps(AdaptiveQuality.GRADIENT, servers, 0.02, load, seed);
                assertThat(step.throughput()).as("load %s, seed %d", load, seed).isGreaterThan(0.9);
                assertThat(step.p99()).as("load %s, seed %d", load, seed).isLessThan(2);
            }
        }
    }

    @Test
    void a_gradient_limit_does_not_drift_in_a_day_of_noise_with_a_changing_service_time() {
        for (int seed = 0; seed < 2; seed++) {
            Day day = AdaptiveQuality.day(AdaptiveQuality.GRADIENT, 20, 0.2, seed);
            assertThat(day.outside())
                    .as("minutes more than 25 % away, seed %d", seed)
                    .isLessThan(0.01);
            assertThat(day.lowestBaseline()).as("seed %d", seed).isGreaterThan(0.8);
            assertThat(day.highestBaseline()).as("seed %d", seed).isLessThan(1.2);
        }
    }

    @Test
    void two_groups_with_one_callee_find_almost_equal_shares() {
        for (int seed = 0; seed < 3; seed++) {
            assertThat(AdaptiveQuality.shares(AdaptiveQuality.GRADIENT, 20, 0.02, 5, 60, seed))
                    .as("seed %d", seed)
                    .isGreaterThan(0.75);
        }
    }

    @Test
    void the_other_algorithms_find_limits_with_a_good_throughput_too() {
        for (int seed = 0; seed < 2; seed++) {
            assertThat(AdaptiveQuality.steps(AdaptiveQuality.VEGAS, 20, 0.02, 0, seed)
                            .throughput())
                    .isGreaterThan(0.9);
            assertThat(AdaptiveQuality.steps(AdaptiveQuality.AIMD, 20, 0.02, 0, seed)
                            .throughput())
                    .isGreaterThan(0.9);
        }
    }

    @Test
    void the_plot_in_the_guide_is_what_the_command_draws() throws Exception {
        Path guide = Files.isDirectory(Path.of("docs")) ? Path.of("docs/guide") : Path.of("../docs/guide");

        assertThat(Files.readString(guide.resolve("images/adaptive.svg"))).isEqualTo(AdaptivePlot.svg());
    }
}
