/**
 * Reads and changes the limits of a fleet in Redis. Start at {@link dev.raddle.cli.fleet.FleetAccess}.
 *
 * <p>Only this package uses the Redis client, whose jars are on the class path of {@code raddle fleet} only. Outside it
 * no signature has a type of the client or of {@code dev.raddle.redis}: the command line reads the signatures of all
 * commands when it starts.
 */
@NullMarked
package dev.raddle.cli.fleet;

import org.jspecify.annotations.NullMarked;
