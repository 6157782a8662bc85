package dev.raddle.bench;

import org.openjdk.jmh.results.BenchmarkResult;

/**
 * The result of one new JVM.
 *
 * @param result the result
 * @param lost the share of the machine's time that the JVM lost to other machines and processes, or NaN if not measured
 * @param repeats how many times the fork was repeated because it had lost too much
 */
record Fork(BenchmarkResult result, double lost, int repeats) {

    /** The share from which on a fork is repeated. */
    static final double LOST_MAX = 0.03;

    boolean isDisturbed() {
        return lost > LOST_MAX; // false for NaN
    }

    Fork withRepeats(int count) {
        return new Fork(result, lost, count);
    }
}
