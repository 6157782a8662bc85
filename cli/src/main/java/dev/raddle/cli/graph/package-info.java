/**
 * What depends on what, drawn. Start at {@link dev.raddle.cli.graph.PlanGraph}.
 *
 * <p>A plan becomes a graph of numbers, {@link dev.raddle.cli.graph.Layers} gives every task a place, and a
 * {@link dev.raddle.cli.graph.GraphFormat} writes it: Mermaid and DOT for other programs, SVG and text as they are. The work
 * is linear in tasks and edges, but for the sorting inside of layers. Nothing here runs anything.
 */
@NullMarked
package dev.raddle.cli.graph;

import org.jspecify.annotations.NullMarked;
