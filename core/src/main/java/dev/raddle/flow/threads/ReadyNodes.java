package dev.raddle.flow.threads;

/**
 * A list of ready nodes, first in first out, whose links are in {@link NodeLinks}. A node is in one list or stack at a
 * time.
 */
public final class ReadyNodes {

    public int first = NodeLinks.NO_NODE;
    public int last; // undefined, like its link, if the list is empty
    public int count;

    public void add(NodeLinks links, int node) {
        if (count++ == 0) {
            first = node;
        } else {
            links.link(last, node);
        }
        last = node;
    }

    /** Removes and returns the node that was added first, or -1. */
    public int takeFirst(NodeLinks links) {
        int node = first;
        if (count > 0) {
            count--;
            first = count == 0 ? NodeLinks.NO_NODE : links.below(node);
        }
        return node;
    }

    /** Moves all nodes to a new list. */
    public ReadyNodes takeAll() {
        ReadyNodes all = new ReadyNodes();
        all.first = first;
        all.last = last;
        all.count = count;
        clear();
        return all;
    }

    public void clear() {
        first = NodeLinks.NO_NODE;
        count = 0;
    }
}
