package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/** A bucket that keeps its rate while the gate has no bounds, so that a new rate does not reduce what was used. */
final class EvictedBucket extends Bucket {

    @Nullable
    RateLimit last; // the rate before the bounds were discarded; guarded by the gate

    EvictedBucket(Bucket bucket) {
        super(bucket);
    }
}
