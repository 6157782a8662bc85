package dev.raddle.group;

import dev.raddle.group.AdaptiveLimit.Sample;

/** Grows while nothing is dropped, and shrinks by a tenth otherwise. */
final class AimdAlgorithm extends AdaptiveLimit.Explained {

    private boolean dropped; // ever

    @Override
    public int next(Sample sample) {
        if (Math.round(limit) != sample.limit()) {
            limit = sample.limit();
        }
        int all = sample.count() + sample.drops();
        reason = sample.drops() + " of " + all + " tasks dropped";
        if (sample.isDropping()) {
            dropped = true;
            limit = Math.max(1, limit * 0.9);
        } else if (sample.maxRunning() * 4 >= sample.limit() * 3) {
            limit += dropped ? Math.max(0.5, Math.sqrt(limit) / 4) : limit / 4;
        }
        return (int) Math.round(limit);
    }
}
