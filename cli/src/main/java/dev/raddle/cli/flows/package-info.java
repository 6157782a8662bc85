/**
 * Looks at runs and schedules of flows in a database, and changes them at the user's request. Start at
 * {@link dev.raddle.cli.flows.FlowsAccess}.
 *
 * <p>Only this package uses {@code dev.raddle.jdbc} and the driver, whose jars are on the class path of
 * {@code raddle flows} only. Outside it no signature has a type of these: the command line reads the signatures of all
 * commands when it starts. Values of nodes are not read.
 */
@NullMarked
package dev.raddle.cli.flows;

import org.jspecify.annotations.NullMarked;
