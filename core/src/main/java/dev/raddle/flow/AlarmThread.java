package dev.raddle.flow;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.task.ExceptionSink;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Does what alarms of one run are for, which may call the user's code: in a thread of the system that lives as long as there is
 * something to do, so that neither the clock's thread nor actions that keep all carriers busy hold it up.
 */
final class AlarmThread implements Executor {

    private final String flow;
    private final ExceptionSink sink;
    private final ConcurrentLinkedQueue<Runnable> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isServed = new AtomicBoolean();
    private volatile @Nullable Thread server;

    AlarmThread(String flow, ExceptionSink sink) {
        this.flow = flow;
        this.sink = sink;
    }

    @Override
    public void execute(Runnable action) {
        due.add(action);
        if (isServed.compareAndSet(false, true)) {
            try {
                Thread.ofPlatform().daemon().name("raddle-flow-alarm").start(this::serve);
            } catch (Throwable noThread) {
                sink.report("start of a thread for alarms of flow \"" + flow + "\"", noThread);
                new OffloadExecutor(sink).execute(this::serve);
            }
        }
    }

    private void serve() {
        do {
            server = Thread.currentThread();
            for (Runnable action; (action = due.poll()) != null; ) {
                serve(action);
            }
            server = null;
            isServed.set(false);
        } while (!due.isEmpty() && isServed.compareAndSet(false, true));
    }

    private void serve(Runnable action) {
        Thread.interrupted(); // whatever the last one has left
        try {
            action.run();
        } catch (Throwable failure) {
            sink.report("alarm of flow \"" + flow + "\"", failure);
        }
    }

    /** Tells whether the calling thread is the one that does what alarms are for. */
    boolean isHere() {
        return server == Thread.currentThread();
    }
}
