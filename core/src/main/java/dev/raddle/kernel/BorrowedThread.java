package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.time.UserCode;
import org.jspecify.annotations.Nullable;

/**
 * What the code of one submitter would find of another in the thread that runs it: the interrupt status and the context
 * class loader. A thread that is not Raddle's has its own again afterwards.
 */
public final class BorrowedThread {

    private BorrowedThread() {}

    /**
     * Sets the context class loader of the calling thread, unless that is its loader already.
     *
     * @param self the calling thread
     * @param loader the loader, or null
     * @param sink the sink for the exception of a thread that refuses the loader
     */
    public static void useLoader(Thread self, @Nullable ClassLoader loader, ExceptionSink sink) {
        if (self.getContextClassLoader() != loader) {
            try {
                self.setContextClassLoader(loader);
            } catch (Throwable refused) {
                sink.report("setContextClassLoader of " + UserCode.textOf(self), refused);
            }
        }
    }

    /**
     * Runs an action under a context class loader. Afterwards the thread has the loader that it had before.
     *
     * @param loader the loader, or null
     * @param sink the sink for the exception of a thread that refuses a loader
     * @param action the action, run in the calling thread
     */
    public static void runUnder(@Nullable ClassLoader loader, ExceptionSink sink, Runnable action) {
        Thread self = Thread.currentThread();
        ClassLoader before = self.getContextClassLoader();
        useLoader(self, loader, sink);
        try {
            action.run();
        } finally {
            useLoader(self, before, sink);
        }
    }

    /**
     * Runs an action with a clear interrupt status under a context class loader. Afterwards the thread has the loader
     * that it had before, and is interrupted if it was before or is then.
     *
     * @param loader the loader, or null
     * @param sink the sink for the exception of a thread that refuses a loader
     * @param action the action, run in the calling thread
     */
    public static void run(@Nullable ClassLoader loader, ExceptionSink sink, Runnable action) {
        boolean interrupted = Thread.interrupted();
        try {
            runUnder(loader, sink, action);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
