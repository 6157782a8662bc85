package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Sample;
import java.util.Locale;

/** Keeps the number of calls that wait inside the callee between two bounds. */
final class VegasAlgorithm extends AdaptiveLimit.Explained {

    /*
     * Of L concurrent calls L s / r are being served, if s is the unloaded run time and r the current one; the others
     * wait in the callee. The limit grows if fewer than the lower bound wait, shrinks if more than the upper bound do,
     * and stays in between. The bounds and the steps grow with the square root of the limit, as the noise does.
     */
    private double waiting; // smoothed, as a fraction of the limit
    private boolean starting = true;

    @Override
    public int next(Sample sample) {
        if (Math.round(limit) != sample.limit()) {
            limit = sample.limit();
        }
        if (sample.isDropping()) {
            limit *= 0.9;
            starting = false;
            reason = sample.drops() + " of " + (sample.count() + sample.drops()) + " tasks dropped";
        } else if (sample.count() > 0) {
            follow(sample);
        }
        return (int) Math.round(limit);
    }

    private void follow(Sample sample) {
        double now = 1 - (double) sample.baselineNanos() / sample.meanNanos();
        waiting += (now - waiting) * 0.4 * Math.min(1, (double) sample.count() / LimitWindow.FULL);
        double root = Math.sqrt(limit);
        double queue = waiting * limit;
        starting &= queue < 0.3 * root;
        if (queue < 0.3 * root) {
            limit += starting ? limit / 4 : 0.4 * root;
        } else if (queue > 0.7 * root) {
            limit = Math.max(1, limit - Math.max(0.4 * root, queue / 4));
        }
        reason = String.format(
                Locale.ROOT,
                "%.1f calls wait: mean %s against %s",
                queue,
                Durations.text(sample.meanNanos()),
                Durations.text(sample.baselineNanos()));
    }
}
