package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * A nested run that has not been created. The body of a node with the trait {@link Graph#NESTED} returns it, and the
 * engine begins the run in place of the node.
 *
 * @param parameter the parameter of the run; of a {@code map} the collection
 * @param rootsAtOnce the limit of nodes without dependencies that are triggered at a time; 0 for all
 */
record NestedPlan(Graph graph, @Nullable Object parameter, OnFailure onFailure, int rootsAtOnce) {}
