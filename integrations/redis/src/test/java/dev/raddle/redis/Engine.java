package dev.raddle.redis;

/** Runs tasks with permits of a fleet. */
interface Engine extends AutoCloseable {

    /** Waits for a permit of a group and runs a task with it. */
    void run(String key, FencedTask task) throws InterruptedException;

    @Override
    void close();

    /** A task that knows its fencing number. */
    interface FencedTask {
        void run(long fence) throws InterruptedException;
    }
}
