/**
 * Raddle with Redis or Valkey: limits of groups that hold over a {@linkplain dev.raddle.redis.RedisFleet fleet} of
 * JVMs.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.redis {
    requires transitive dev.raddle;
    requires transitive lettuce.core;
    requires jdk.jfr;
    requires static org.jspecify;

    exports dev.raddle.redis;
}
