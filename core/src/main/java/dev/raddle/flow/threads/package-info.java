/**
 * Which thread runs which node of a run, and what the slot of a node contains while it has not ended. Start at {@link
 * dev.raddle.flow.threads.Runner}.
 *
 * <p>A node is a number here. What its function is, how it ends and what follows from that is decided by {@code
 * dev.raddle.flow}, which threads enter through {@link dev.raddle.flow.threads.RunEntry}. This package is not exported.
 */
package dev.raddle.flow.threads;
