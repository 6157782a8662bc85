package dev.raddle.flow;

/** What a node does, with its arguments taken from the run. */
@FunctionalInterface
interface Body {

    /** Returns the node's value; null is one. */
    Object call(Engine run, int node) throws Exception;

    /** One that is a run of its own: its node waits for that without a thread. */
    interface Nested extends Body {

        /** Returns a run that has not begun. */
        Engine open(Engine run, int node) throws Exception;

        @Override
        default Object call(Engine run, int node) {
            throw new IllegalStateException("a nested run is opened, not called");
        }
    }
}
