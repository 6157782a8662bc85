package dev.raddle.flow;

/**
 * One dependency between two nodes, as text.
 *
 * @param from the id of the upstream node
 * @param to the id of the node that depends on it
 * @param kind {@code must}, {@code order}, {@code optional}, {@code after}, {@code any}, or {@code atLeast k}
 */
public record PlanEdge(String from, String to, String kind) {}
