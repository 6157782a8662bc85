package dev.raddle.task;

import java.util.Map;

/**
 * Propagates a context of another library, such as a logging or tracing context, from the submitter to the task.
 *
 * {@snippet :
 * ContextPropagator mdc = () -> {
 *     Map<String, String> captured = MDC.getCopyOfContextMap();
 *     return () -> {
 *         Map<String, String> before = MDC.getCopyOfContextMap();
 *         MDC.setContextMap(captured);
 *         return () -> MDC.setContextMap(before);
 *     };
 * };
 * }
 *
 * <p>Flows and scopes also use the propagators that are {@linkplain java.util.ServiceLoader services}, whatever their
 * options are.
 *
 * <p>A propagator that implements {@link #save} and {@link #restore} propagates its context to durable runs, too, which
 * begin and continue in other processes.
 */
@FunctionalInterface
public interface ContextPropagator {

    /**
     * Reads the calling thread's context. Called once for each task, by its submitter.
     *
     * @return the captured context
     */
    Captured capture();

    /**
     * Returns the calling thread's context as texts, which are stored with a durable run. Called once for each run, by
     * its submitter. Names should be those of HTTP headers in lower case, and no other propagator should use them. The
     * default implementation returns no texts.
     *
     * @return the texts by their names
     */
    default Map<String, String> save() {
        return Map.of();
    }

    /**
     * Returns the context that {@link #save} has returned, perhaps in another process and in an earlier version. The
     * default implementation returns that of the calling thread.
     *
     * @param saved the texts of all propagators; none of this one if it had no context to save
     * @return the context, as if it was captured
     */
    default Captured restore(Map<String, String> saved) {
        return capture();
    }

    /** The context at the submission of a task. */
    @FunctionalInterface
    interface Captured {
        /**
         * Installs the context in the calling thread. Called by the thread that runs the task, before the callable.
         *
         * @return the installed context, which is closed by the same thread after the callable
         */
        Installed install();
    }

    /** An installed context. */
    @FunctionalInterface
    interface Installed extends AutoCloseable {
        /** Restores the previous context. */
        @Override
        void close();
    }
}
