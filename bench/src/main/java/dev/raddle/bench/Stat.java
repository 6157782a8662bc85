package dev.raddle.bench;

import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/** The results of the forks for one number. */
final class Stat {

    private static final double CONFIDENCE = 0.875;

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

    /**
     * Returns the lower end of an interval that contains the true median in at least 7 of 8 experiments, whatever the
     * distribution of the numbers: the k-th smallest and the k-th largest of n values, with the largest k that permits
     * it (the sign test). Up to three values permit none; then it is the smallest.
     */
    double low() {
        return values[outside()];
    }

    /** Returns the upper end of the interval that begins with {@link #low()}. */
    double high() {
        return values[values.length - 1 - outside()];
    }

    /** Returns the number of values below the interval, and above it. */
    private int outside() {
        double chance = Math.pow(0.5, values.length); // that the median is below a values of n, and above the others
        double missed = chance;
        int outside = -1;
        while (missed <= (1 - CONFIDENCE) / 2) {
            outside++;
            chance *= (double) (values.length - outside) / (outside + 1);
            missed += chance;
        }
        return Math.max(outside, 0);
    }

    /** Returns the median of sorted numbers. */
    static double median(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
