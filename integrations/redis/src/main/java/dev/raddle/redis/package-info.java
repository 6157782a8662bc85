/**
 * Limits that hold over all JVMs of a fleet, on Redis or Valkey. Start at {@link dev.raddle.redis.RedisFleet}.
 */
package dev.raddle.redis;
