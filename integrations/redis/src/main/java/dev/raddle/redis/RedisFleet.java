package dev.raddle.redis;

/** Placeholder of the module's skeleton. */
public final class RedisFleet {
    private RedisFleet() {}
}
