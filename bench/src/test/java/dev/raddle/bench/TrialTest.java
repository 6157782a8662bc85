package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class TrialTest {

    private static final Trial TRIAL =
            new Trial("dev.raddle.bench.PoolPaced.jitter", Map.of("peer", "RADDLE", "seconds", "3"), 3);

    @Test
    void every_method_of_a_class_is_tried_with_every_combination_of_its_parameters() {
        assertThat(Trial.of(RoundTrip.class))
                .extracting(Trial::toString)
                .contains("RoundTrip.raddle, caller=platform", "RoundTrip.raddle, caller=virtual")
                .hasSameSizeAs(Trial.of(RoundTrip.class).stream().distinct().toList());
        assertThat(Trial.combinations(
                        new TreeMap<>(Map.of("a", new String[] {"1", "2"}, "b", new String[] {"x", "y"}))))
                .containsExactly(
                        Map.of("a", "1", "b", "x"),
                        Map.of("a", "1", "b", "y"),
                        Map.of("a", "2", "b", "x"),
                        Map.of("a", "2", "b", "y"));
    }

    @Test
    void a_class_keeps_the_number_of_forks_that_it_asks_for() {
        assertThat(Trial.of(RoundTrip.class)).extracting(Trial::forks).containsOnly(5);
        assertThat(Trial.of(ShareOfCap.class)).extracting(Trial::forks).contains(1, 3);
    }

    @Test
    void a_filter_for_a_parameter_excludes_other_values_of_it_only() {
        assertThat(TRIAL.agreesWith("peer=RADDLE")).isTrue();
        assertThat(TRIAL.agreesWith("peer=LINKED")).isFalse();
        assertThat(TRIAL.agreesWith("producers=4")).isTrue();
    }

    @Test
    void a_brief_trial_has_one_fork_of_one_second() {
        assertThat(TRIAL.brief()).isEqualTo(new Trial(TRIAL.benchmark(), Map.of("peer", "RADDLE", "seconds", "1"), 1));
        assertThat(TRIAL.shortName()).isEqualTo("PoolPaced.jitter");
    }

    @Test
    void every_trial_of_a_quick_comparison_exists() {
        assertThat(Chapter.ALL.stream()
                        .flatMap(chapter -> Trial.of(chapter.benchmark()).stream())
                        .map(Trial::toString))
                .containsAll(Compare.QUICK);
    }

    @Test
    void a_number_is_worse_if_no_new_fork_is_as_good_as_an_old_one() {
        assertThat(isWorse(new double[] {10, 11}, new double[] {11.5, 12})).isTrue();
        assertThat(isWorse(new double[] {10, 11}, new double[] {10.9, 12})).isFalse();
        assertThat(isWorse(new double[] {10, 10}, new double[] {10.1, 10.1})).isFalse();
        assertThat(isWorse(new double[] {11, 12}, new double[] {10, 10})).isFalse();
    }

    @Test
    void a_throughput_is_worse_if_it_is_less() {
        assertThat(isWorse("throughput, tasks/s", new double[] {11.5, 12}, new double[] {10, 11}))
                .isTrue();
        assertThat(isWorse("throughput, tasks/s", new double[] {10, 11}, new double[] {11.5, 12}))
                .isFalse();
    }

    private static boolean isWorse(double[] old, double[] current) {
        return isWorse("cpu, ns/op", old, current);
    }

    private static boolean isWorse(String number, double[] old, double[] current) {
        return new Compare.Line(TRIAL, number, stat(old), stat(current), stat(1)).isWorse();
    }

    private static Stat stat(double... values) {
        return new Stat(List.of(), DoubleStream.of(values));
    }
}
