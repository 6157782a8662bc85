package dev.raddle.flow.threads;

/** The links of ready nodes, which are in one list or stack at a time. */
public interface NodeLinks {

    /** Stands for no node. */
    int NO_NODE = -1;

    /**
     * Links a ready node to the one below it.
     *
     * @param below the previous top, or -1
     */
    void link(int node, int below);

    int below(int node);
}
