package dev.raddle.task;

/**
 * A task that has a name for people. Flight recordings and logs show that name, where other tasks have that of their class.
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
     * @return a short text, the same at every call
     */
    String name();
}
