package dev.raddle.bench;

import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/** The results of the forks for one number. */
final class Stat {

    private final double[] values; // smallest first
    private final List<Fork> forks;

    /**
     * Creates it.
     *
     * @param forks the forks
     * @param values their values, in any order
     */
    Stat(List<Fork> forks, DoubleStream values) {
        this.forks = List.copyOf(forks);
        this.values = values.sorted().toArray();
        if (this.values.length == 0) {
            throw new IllegalArgumentException("a result needs at least one fork");
        }
    }

    Stat times(double factor) {
        return new Stat(forks, Arrays.stream(values).map(value -> value * factor));
    }

    List<Fork> forks() {
        return forks;
    }

    double median() {
        return median(values);
    }

    double smallest() {
        return values[0];
    }

    double largest() {
        return values[values.length - 1];
    }

    /** Returns the median of sorted numbers. */
    static double median(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
