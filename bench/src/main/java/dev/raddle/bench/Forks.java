package dev.raddle.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Runs forks one by one and reads around each what it lost of the machine's time. A fork that lost more than
 * {@link Fork#LOST_MAX} is repeated, at most {@value #REPEATS_MAX} times; of all attempts the one that lost the least
 * is kept.
 */
final class Forks {

    static final int REPEATS_MAX = 3;

    /** Runs one fork. */
    @FunctionalInterface
    interface Jvms {
        BenchmarkResult run(Trial trial) throws RunnerException;
    }

    private final Jvms jvms;
    private final Supplier<@Nullable CpuTimes> times;
    private final int repeatsMax;

    Forks(Jvms jvms, Supplier<@Nullable CpuTimes> times, int repeatsMax) {
        this.jvms = jvms;
        this.times = times;
        this.repeatsMax = repeatsMax;
    }

    /** Runs all forks of a trial. */
    List<Fork> runAll(Trial trial) throws RunnerException {
        List<Fork> forks = new ArrayList<>();
        for (int i = 0; i < trial.forks(); i++) {
            forks.add(run(trial));
        }
        return forks;
    }

    /** Runs one fork of a trial, and repeats it while it is disturbed. */
    Fork run(Trial trial) throws RunnerException {
        Fork kept = attempt(trial);
        int repeats = 0;
        while (kept.isDisturbed() && repeats < repeatsMax) {
            Fork next = attempt(trial);
            repeats++;
            if (next.lost() < kept.lost()) {
                kept = next;
            }
        }
        return kept.withRepeats(repeats);
    }

    private Fork attempt(Trial trial) throws RunnerException {
        CpuTimes begin = times.get();
        BenchmarkResult result = jvms.run(trial);
        CpuTimes end = times.get();
        return new Fork(result, begin == null || end == null ? Double.NaN : end.lostSince(begin), 0);
    }
}
