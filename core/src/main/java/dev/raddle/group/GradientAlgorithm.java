package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Sample;
import java.util.Locale;

/** Multiplies the limit by the ratio of the unloaded run time to the current one, and adds a surplus. */
final class GradientAlgorithm extends AdaptiveLimit.Explained {

    /*
     * Overview.
     *
     * A callee of c servers whose unloaded run time is s answers L > c concurrent calls in L s / c (Little's law). So
     * the gradient g = s / run time is c / L, and L g is c, whatever L is. For L <= c it is 1, within the noise. The
     * step
     *
     *   L  ──►  L + weight (L g - L) + growth,   growth = a √L
     *
     * has the fixed point L (1 - g) = growth / weight: a surplus of about that many calls, which wait in the callee and
     * which the next window is to see. The surplus grows with the square root because the noise does, and because a
     * surplus in proportion to L would let two groups with one callee keep any shares, while this one lets them
     * converge: both have the same g, so both get the L at which growth / L is 1 - g.
     *
     * The weight smooths the noise of a window. So that a limit far below c grows fast nevertheless, the growth doubles
     * in each window while L g + growth / 2 stays above L on average, up to a quarter of L.
     */
    private static final double WEIGHT = 0.3;
    private static final double SURPLUS = 0.6; // times the square root
    private static final double LEAST_SURPLUS = 1;
    private static final double DROPPED = 0.9;
    private static final int PATIENCE = 3; // windows without a sign of load before the growth doubles

    private double smoothed = 1; // the gradient
    private boolean starting = true;
    private int calm; // windows without a sign of load

    @Override
    public int next(Sample sample) {
        if ((int) limit != sample.limit()) {
            limit = sample.limit();
        }
        if (sample.isDropping()) {
            limit *= DROPPED;
            calm = 0;
            starting = false;
            reason = String.format(
                    Locale.ROOT, "%d of %d tasks dropped", sample.drops(), sample.count() + sample.drops());
        } else if (sample.count() > 0) {
            follow(sample);
        }
        return (int) limit;
    }

    private void follow(Sample sample) {
        double gradient = Math.clamp((double) sample.baselineNanos() / sample.meanNanos(), 0.5, 1.1);
        double weight = WEIGHT * Math.min(1, (double) sample.count() / LimitWindow.FULL);
        double surplus = Math.max(LEAST_SURPLUS, SURPLUS * Math.sqrt(limit) - 0.4);
        smoothed += (gradient - smoothed) * Math.min(1, 2 * weight);
        boolean isCalm = limit * smoothed + surplus / 2 > limit;
        calm = isCalm ? calm + 1 : 0;
        starting &= smoothed > 0.75;
        double growth = surplus * weight;
        if (starting) {
            growth = gradient > 0.8 ? limit / 2 : 0;
        } else if (calm > PATIENCE) {
            growth = Math.min(growth * (1 << Math.min(calm - PATIENCE, 10)), limit / 4);
        }
        boolean isFull = Math.max(gradient, smoothed) < 0.75;
        limit = Math.max(1, isFull ? limit * gradient + surplus : limit + weight * limit * (gradient - 1) + growth);
        reason = reason(sample, gradient);
    }

    static String reason(Sample sample, double gradient) {
        return String.format(
                Locale.ROOT,
                "gradient %.2f: mean %s against %s",
                gradient,
                Durations.text(sample.meanNanos()),
                Durations.text(sample.baselineNanos()));
    }
}
