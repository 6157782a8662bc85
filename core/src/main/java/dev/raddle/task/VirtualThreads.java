package dev.raddle.task;

import java.util.concurrent.ThreadFactory;

/** A fresh virtual thread for each task. Inheriting thread-locals would carry one request's context into another's task. */
final class VirtualThreads implements Scheduler {

    static final VirtualThreads INSTANCE = new VirtualThreads();

    private final ThreadFactory factory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();

    private VirtualThreads() {}

    @Override
    public void execute(Runnable task) {
        factory.newThread(task).start();
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
