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

    void clear() {
        first = Settled.NOBODY;
        count = 0;
    }
}
