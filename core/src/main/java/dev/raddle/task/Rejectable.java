package dev.raddle.task;

import java.util.concurrent.RejectedExecutionException;

/**
 * A task that is notified if it will never run, for example because it holds a resource.
 *
 * {@snippet :
 * record Upload(Path file, Semaphore slots) implements Rejectable {
 *     @Override public void run() {
 *         try {
 *             send(file);
 *         } finally {
 *             slots.release();
 *         }
 *     }
 *
 *     @Override public void reject(RejectedExecutionException reason) {
 *         slots.release();
 *     }
 * }
 * }
 *
 * <p>A {@link dev.raddle.pool.ThreadPool} rejects such a task when it drops it or returns it to a caller, and when a
 * caller removes it from the pool's queue. A caller that takes one from the queue by {@code poll}, {@code take} or
 * {@code drainTo} must run it or reject it.
 */
public interface Rejectable extends Runnable {

    /**
     * Called once, in the thread that drops the task, instead of {@link #run()}. An exception from this method goes to
     * the uncaught exception handler of the calling thread.
     *
     * @param reason the reason
     */
    void reject(RejectedExecutionException reason);
}
