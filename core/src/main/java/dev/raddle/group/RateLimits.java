package dev.raddle.group;

import dev.raddle.kernel.RateLimit;
import dev.raddle.task.Rate;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Returns one object for equal rates, so that a group with a rate costs no more than its bucket. */
final class RateLimits {

    private static final int MOST = 256; // in case that each key has a rate of its own

    private final ConcurrentHashMap<Rate, RateLimit> limits = new ConcurrentHashMap<>();

    @Nullable
    RateLimit of(@Nullable Rate rate) {
        if (rate == null) {
            return null;
        }
        if (limits.size() >= MOST && !limits.containsKey(rate)) {
            limits.clear(); // harmless, because equal objects can replace each other
        }
        return limits.computeIfAbsent(rate, RateLimit::new);
    }
}
