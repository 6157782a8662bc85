package dev.raddle.task;

/**
 * Runs each task on a new virtual thread. The thread does not inherit thread-locals, which could be those of another
 * request.
 */
final class VirtualThreads implements Scheduler {

    static final VirtualThreads INSTANCE = new VirtualThreads();

    private VirtualThreads() {}

    @Override
    public void execute(Runnable task) {
        String name = task instanceof Placeable placeable ? placeable.threadName() : "";
        Thread.ofVirtual()
                .name(name)
                .inheritInheritableThreadLocals(false)
                .unstarted(task)
                .start();
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
