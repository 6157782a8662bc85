package dev.raddle.flow;

/** Nodes that became ready one after the other, and lie nowhere else: a list whose links are in the board. */
final class ReadyNodes {

    int first = Settled.NOBODY;
    int last; // meaningless, as is its link, if there are none
    int count;

    void add(Board board, int node) {
        if (count++ == 0) {
            first = node;
        } else {
            board.link(last, node);
        }
        last = node;
    }

    /** Takes the node that was added first, or -1. */
    int takeFirst(Board board) {
        int node = first;
        if (count > 0) {
            count--;
            first = count == 0 ? Settled.NOBODY : board.below(node);
        }
        return node;
    }

    /** Returns all in a list of their own. */
    ReadyNodes takeAll() {
        ReadyNodes all = new ReadyNodes();
        all.first = first;
        all.last = last;
        all.count = count;
        clear();
        return all;
    }

    void clear() {
        first = Settled.NOBODY;
        count = 0;
    }
}
