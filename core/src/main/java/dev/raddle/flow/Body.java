package dev.raddle.flow;

/** The function of a node, which takes its arguments from the run. */
@FunctionalInterface
interface Body {

    /** Returns the node's value, which may be null. */
    Object call(Engine run, int node) throws Exception;

    /** A body that is a nested run. Its node waits for that run without a thread. */
    interface Nested extends Body {

        /** Returns the nested run, which has not begun. */
        Engine open(Engine run, int node) throws Exception;

        @Override
        default Object call(Engine run, int node) {
            throw new IllegalStateException("a nested run is opened, not called");
        }
    }
}
