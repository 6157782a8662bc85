package dev.raddle.task;

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
 */
@FunctionalInterface
public interface ContextPropagator {

    /**
     * Reads the calling thread's context. Called once for each task, by its submitter.
     *
     * @return the captured context
     */
    Captured capture();

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
