package dev.raddle.flow.threads;

import dev.raddle.task.Scheduler;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The thread that joins a run and executes its nodes. It is the scheduler of the nested runs. */
public final class JoiningThread implements Scheduler {

    private final ConcurrentLinkedQueue<Runnable> submitted = new ConcurrentLinkedQueue<>(); // from nested runs
    private volatile @Nullable Thread thread; // null while no thread joins

    @Nullable
    public Runner runner; // written by the starter

    /** Sets the joining thread to the calling thread, unless there is one. Returns whether it was set. */
    public synchronized boolean tryClaim() {
        boolean isFree = thread == null;
        thread = isFree ? Thread.currentThread() : thread;
        return isFree;
    }

    public void release() {
        thread = null;
    }

    /** Unparks the joining thread, if there is one, because there are nodes for it, or it may return. */
    public void wake() {
        LockSupport.unpark(thread);
    }

    @Override
    public void execute(Runnable task) {
        submitted.add(task);
        wake();
    }

    /** Runs a task that a nested run has submitted. Returns false if there was none. */
    public boolean runSubmitted() {
        Runnable task = submitted.poll();
        if (task == null) {
            return false;
        }
        task.run();
        return true;
    }
}
