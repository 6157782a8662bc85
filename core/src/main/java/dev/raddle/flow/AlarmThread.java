package dev.raddle.flow;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.task.ExceptionSink;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Executes the alarm actions of one run, which may call user code, in a platform thread that lives as long as there are
 * actions. Thus they do not block the timer thread, and are not delayed by actions that occupy all carrier threads.
 */
final class AlarmThread implements Executor {

    private final String flow;
    private final ExceptionSink sink;
    private final ConcurrentLinkedQueue<Runnable> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isRunning = new AtomicBoolean();
    private volatile @Nullable Thread thread;

    AlarmThread(String flow, ExceptionSink sink) {
        this.flow = flow;
        this.sink = sink;
    }

    @Override
    public void execute(Runnable action) {
        due.add(action);
        if (isRunning.compareAndSet(false, true)) {
            try {
                Thread.ofPlatform().daemon().name("raddle-flow-alarm").start(this::runDue);
            } catch (Throwable noThread) {
                sink.report("start of the alarm thread of flow \"" + flow + "\"", noThread);
                new OffloadExecutor(sink).execute(this::runDue);
            }
        }
    }

    private void runDue() {
        do {
            thread = Thread.currentThread();
            for (Runnable action; (action = due.poll()) != null; ) {
                run(action);
            }
            thread = null;
            isRunning.set(false);
        } while (!due.isEmpty() && isRunning.compareAndSet(false, true));
    }

    private void run(Runnable action) {
        Thread.interrupted(); // the previous action may have left an interrupt
        try {
            action.run();
        } catch (Throwable failure) {
            sink.report("alarm of flow \"" + flow + "\"", failure);
        }
    }

    /** Returns whether the calling thread is the alarm thread. */
    boolean isCurrentThread() {
        return thread == Thread.currentThread();
    }
}
