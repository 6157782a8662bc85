package dev.raddle.task;

import dev.raddle.time.UserCode;
import java.util.concurrent.RejectedExecutionException;

/**
 * A task that has to know if it will never run, because something waits for it or is held by it.
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
 * <p>A {@link dev.raddle.pool.ThreadPool} rejects such a task when it drops it, hands it back, or when somebody removes it from its queue.
 * Whoever takes one out of the queue by {@code poll}, {@code take} or {@code drainTo} runs it or rejects it.
 */
public interface Rejectable extends Runnable {

    /**
     * Called once, in the thread that drops the task, instead of {@link #run()}. What this throws goes to the uncaught exception
     * handler of the calling thread.
     *
     * @param reason the reason
     */
    void reject(RejectedExecutionException reason);

    /**
     * Rejects a task, if it is such a one.
     *
     * @param task the task that will never run
     * @param reason the reason, after the task in a sentence
     * @return true if it is such a task
     */
    static boolean reject(Runnable task, String reason) {
        if (!(task instanceof Rejectable rejectable)) {
            return false;
        }
        try {
            String text = UserCode.textOf(task);
            String subject = text.startsWith("task ") ? text : "task " + text;
            rejectable.reject(new RejectedExecutionException(subject + " " + reason));
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
        return true;
    }
}
