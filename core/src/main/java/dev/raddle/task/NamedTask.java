package dev.raddle.task;

/**
 * A task with a name. Flight recordings and logs show that name; for other tasks they show the name of the class.
 *
 * {@snippet :
 * record Import(String name, Path file) implements NamedTask, Runnable {
 *     @Override public void run() {
 *         read(file);
 *     }
 * }
 * }
 */
public interface NamedTask {

    /**
     * Returns the name of this task.
     *
     * @return the name, a short text, the same at every call
     */
    String name();
}
