package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.runner.RunnerException;

/** A machine of which the test decides how many of the 1,000 ticks of each fork are stolen. */
class ForksTest {

    private static final Trial TRIAL = new Trial("dev.raddle.bench.Some.thing", Map.of(), 3);

    private final List<BenchmarkResult> run = new ArrayList<>();
    private CpuTimes now = new CpuTimes(0, 0, 0, 0);

    @Test
    void a_quiet_fork_runs_once() throws RunnerException {
        Fork fork = forks(30).run(TRIAL);

        assertThat(fork).isEqualTo(new Fork(run.getFirst(), 0.03, 0));
        assertThat(fork.isDisturbed()).isFalse();
        assertThat(run).hasSize(1);
    }

    @Test
    void a_disturbed_fork_is_repeated_until_one_is_quiet() throws RunnerException {
        Fork fork = forks(440, 31, 5).run(TRIAL);

        assertThat(fork).isEqualTo(new Fork(run.get(2), 0.005, 2));
        assertThat(run).hasSize(3);
    }

    @Test
    void of_four_disturbed_attempts_the_quietest_is_kept_and_marked() throws RunnerException {
        Fork fork = forks(300, 100, 200, 400).run(TRIAL);

        assertThat(fork).isEqualTo(new Fork(run.get(1), 0.1, 3));
        assertThat(fork.isDisturbed()).isTrue();
        assertThat(run).hasSize(4);
    }

    @Test
    void each_fork_of_a_trial_is_repeated_by_itself() throws RunnerException {
        List<Fork> all = forks(0, 50, 10, 20).runAll(TRIAL);

        assertThat(all)
                .containsExactly(
                        new Fork(run.get(0), 0, 0), new Fork(run.get(2), 0.01, 1), new Fork(run.get(3), 0.02, 0));
    }

    @Test
    void nothing_is_repeated_where_the_system_shows_no_times() throws RunnerException {
        Fork fork = new Forks(trial -> newResult(), () -> null, Forks.REPEATS_MAX).run(TRIAL);

        assertThat(fork).isEqualTo(new Fork(run.getFirst(), Double.NaN, 0));
        assertThat(Row.lostText(Stream.of(fork))).isEqualTo("?");
    }

    @Test
    void a_row_has_the_largest_share_and_all_repeats_of_its_forks() {
        Fork quiet = new Fork(newResult(), 0.004, 0);
        Fork repeated = new Fork(newResult(), 0.02, 1);
        Fork disturbed = new Fork(newResult(), 0.123, 3);

        assertThat(Row.lostText(Stream.of(quiet, quiet))).isEqualTo("0.4 %");
        assertThat(Row.lostText(Stream.of(quiet, repeated, repeated))).isEqualTo("2.0 %, 1 repeat");
        assertThat(Row.lostText(Stream.of(quiet, repeated, disturbed))).isEqualTo("**12.3 %**, 4 repeats");
    }

    /** Returns forks of which each attempt loses the next of these numbers of ticks. */
    private Forks forks(int... stolen) {
        return new Forks(
                trial -> {
                    now = new CpuTimes(now.total() + 1000, now.stolen() + stolen[run.size()], 0, 0);
                    return newResult();
                },
                () -> now,
                Forks.REPEATS_MAX);
    }

    private BenchmarkResult newResult() {
        BenchmarkResult result = new BenchmarkResult(null, List.of());
        run.add(result);
        return result;
    }
}
