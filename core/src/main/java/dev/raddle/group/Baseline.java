package dev.raddle.group;

/** The mean run time of tasks when their callee is not loaded, as far as it has been measured. */
final class Baseline {

    /*
     * Overview.
     *
     * A probe, which lowers the limit for a moment, measures the mean of an unloaded callee. It is averaged with the
     * former ones, with a small weight: the noise of one probe does not matter, and a slow change is followed. If it
     * differs by more than noise can explain, the callee has changed, and the former probes are forgotten.
     *
     * The mean of an ordinary window is an upper bound only: it replaces a baseline that is clearly larger. If it were
     * averaged always, the baseline would rise with every overload, and the limit with it. It is averaged only at the
     * beginning, before any probe could have been precise.
     */
    private static final double WEIGHT = 0.06; // of a probe with as many tasks as a full window
    private static final int VAGUE = 5 * LimitWindow.FULL; // tasks
    private static final int BEGINNING = 3 * LimitWindow.FULL;
    private static final int LARGEST_WEIGHT = 1_000_000;

    private double nanos;
    private int weight; // the number of tasks behind `nanos`; 0 if it is unknown

    /** Returns the baseline, or 0 if it is unknown. */
    long nanos() {
        return Math.round(nanos);
    }

    /** Returns whether few tasks have been measured. */
    boolean isVague() {
        return weight < VAGUE;
    }

    /** Returns whether a mean differs more from the baseline than noise explains. */
    boolean differs(long mean, int count) {
        return Math.abs((double) mean - nanos) > nanos * noise(count);
    }

    /** Adds the mean of an unloaded callee. */
    void measure(long mean, int count) {
        if (weight == 0 || differs(mean, count)) {
            replace(mean, count);
        } else {
            average(mean, count);
        }
    }

    /** Adds the mean of a callee that may be loaded. */
    void observe(long mean, int count) {
        boolean differs = differs(mean, count);
        if (weight == 0 || (differs && (double) mean < nanos)) {
            replace(mean, count);
        } else if (!differs && weight < BEGINNING) {
            average(mean, count);
        }
    }

    private void replace(long mean, int count) {
        nanos = (double) mean;
        weight = count;
    }

    private void average(long mean, int count) {
        weight = Math.min(weight + count, LARGEST_WEIGHT);
        double share = WEIGHT * Math.min(1, (double) count / LimitWindow.FULL);
        nanos += ((double) mean - nanos) * Math.max(share, (double) count / weight);
    }

    /** Four standard deviations of the mean of exponential run times, as a fraction of their mean. */
    private static double noise(int count) {
        return Math.clamp(4 / Math.sqrt(count), 0.2, 0.6);
    }
}
