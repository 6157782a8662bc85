/**
 * Draws the dependencies of a plan. Start at {@link dev.raddle.cli.graph.PlanGraph}.
 *
 * <p>A plan becomes a graph of numbers, {@link dev.raddle.cli.graph.Layers} assigns a position to every task, and a
 * {@link dev.raddle.cli.graph.GraphFormat} writes it: Mermaid and DOT for other programs, SVG and text for direct use.
 * The work is linear in tasks and edges, except for the sorting inside layers. Nothing here runs anything.
 */
@NullMarked
package dev.raddle.cli.graph;

import org.jspecify.annotations.NullMarked;
