package dev.raddle.task;

import java.util.concurrent.ThreadFactory;

/**
 * Runs each task on a new virtual thread. The thread does not inherit thread-locals, which could be those of another
 * request.
 */
final class VirtualThreads implements Scheduler {

    static final VirtualThreads INSTANCE = new VirtualThreads();

    private final ThreadFactory factory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();

    private VirtualThreads() {}

    @Override
    public void execute(Runnable task) {
        Thread thread = factory.newThread(task);
        if (task instanceof Placeable placeable) {
            thread.setName(placeable.threadName());
        }
        thread.start();
    }

    @Override
    public boolean isVirtualThreadMode() {
        return true;
    }

    @Override
    public String toString() {
        return "virtual threads";
    }
}
