package dev.raddle.lock;

/**
 * Creates Raddle's own threads: daemons that keep nothing of an application alive. They are in the outermost thread
 * group, without a context class loader and without inherited thread-locals, whichever thread creates them.
 */
public final class OwnThread {

    private OwnThread() {}

    /**
     * Creates a platform thread.
     *
     * @param name the name of the thread
     * @param action the action that it runs
     * @return the thread, which is not started
     */
    @SuppressWarnings("ThreadPriorityCheck") // the normal one, whatever the priority of the creator
    public static Thread unstarted(String name, Runnable action) {
        ThreadGroup outermost = Thread.currentThread().getThreadGroup();
        while (outermost.getParent() != null) {
            outermost = outermost.getParent();
        }
        Thread thread = Thread.ofPlatform()
                .group(outermost)
                .name(name)
                .daemon()
                .priority(Thread.NORM_PRIORITY)
                .inheritInheritableThreadLocals(false)
                .unstarted(action);
        thread.setContextClassLoader(null);
        return thread;
    }
}
