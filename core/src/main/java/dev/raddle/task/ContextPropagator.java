package dev.raddle.task;

/**
 * Carries a context that Raddle does not know, such as a logging or tracing context, from the submitter into the task.
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
 */
@FunctionalInterface
public interface ContextPropagator {

    /**
     * Reads the calling thread's context. Called once for each task, by its submitter.
     *
     * @return the context as it is now
     */
    Captured capture();

    /** A context as it was when the task was submitted. */
    @FunctionalInterface
    interface Captured {
        /**
         * Puts the context in force in the calling thread. Called by the thread that runs the task, before the callable.
         *
         * @return restores what was in force before, in the same thread, after the callable
         */
        Installed install();
    }

    /** A context in force, until it is restored. */
    @FunctionalInterface
    interface Installed extends AutoCloseable {
        /** Restores what was in force before. */
        @Override
        void close();
    }
}
