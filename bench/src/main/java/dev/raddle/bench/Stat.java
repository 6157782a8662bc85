package dev.raddle.bench;

import java.util.Arrays;

/** The results of the forks for one number. */
final class Stat {

    private final double[] forks; // smallest first

    Stat(double... forks) {
        if (forks.length == 0) {
            throw new IllegalArgumentException("a result needs at least one fork");
        }
        this.forks = forks.clone();
        Arrays.sort(this.forks);
    }

    Stat times(double factor) {
        return new Stat(Arrays.stream(forks).map(fork -> fork * factor).toArray());
    }

    double median() {
        return median(forks);
    }

    double smallest() {
        return forks[0];
    }

    double largest() {
        return forks[forks.length - 1];
    }

    int count() {
        return forks.length;
    }

    /** Returns the median of sorted numbers. */
    static double median(double[] sorted) {
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
