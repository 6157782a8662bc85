package dev.raddle.flow;

/**
 * A list of ready nodes, first in first out, whose links are in {@link NodeStates}. A node is in one list or stack at a
 * time.
 */
final class ReadyNodes {

    int first = NodeEnd.NO_NODE;
    int last; // undefined, like its link, if the list is empty
    int count;

    void add(NodeStates states, int node) {
        if (count++ == 0) {
            first = node;
        } else {
            states.link(last, node);
        }
        last = node;
    }

    /** Removes and returns the node that was added first, or -1. */
    int takeFirst(NodeStates states) {
        int node = first;
        if (count > 0) {
            count--;
            first = count == 0 ? NodeEnd.NO_NODE : states.below(node);
        }
        return node;
    }

    /** Moves all nodes to a new list. */
    ReadyNodes takeAll() {
        ReadyNodes all = new ReadyNodes();
        all.first = first;
        all.last = last;
        all.count = count;
        clear();
        return all;
    }

    void clear() {
        first = NodeEnd.NO_NODE;
        count = 0;
    }
}
