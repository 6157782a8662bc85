package dev.raddle.flow.threads;

/** A phase of a node that has no thread, which the thread that ends the node from outside takes back. */
public interface Withdrawable extends NodePhase {

    @Override
    default boolean isWaiting() {
        return true;
    }

    /** Called after the node was ended in this phase. */
    void withdraw();
}
