/**
 * Runs of flows that are kept in PostgreSQL and survive their process. Start at
 * {@link dev.raddle.jdbc.FlowService}.
 *
 * <p>A {@linkplain dev.raddle.jdbc.FlowService service} claims runs, executes the nodes of their plans in this JVM and
 * records each end of a node in the database before the nodes that depend on it begin. When a process ends or stops,
 * another one takes its runs over and continues them. A node may run twice, if its process ends between its action and
 * its record, unless its work is done {@linkplain dev.raddle.jdbc.JdbcNodes in the transaction of the record}.
 *
 * <p>Unless stated otherwise nothing is null, and every class is safe for many threads. A method that needs the
 * database throws {@link dev.raddle.jdbc.DatabaseException} if it is unavailable.
 */
package dev.raddle.jdbc;
