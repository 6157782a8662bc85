package dev.raddle.flow;

import dev.raddle.task.Elsewhere;
import dev.raddle.task.ExceptionSink;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Does what alarms of one run are for, which may call the user's code: in a thread of the system that lives as long as there is
 * something to do, so that neither the clock's thread nor actions that keep all carriers busy hold it up.
 */
final class AlarmThread implements Executor {

    private final String flow;
    private final ExceptionSink sink;
    private final ConcurrentLinkedQueue<Runnable> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isServed = new AtomicBoolean();

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
                new Elsewhere(sink).execute(this::serve);
            }
        }
    }

    private void serve() {
        do {
            for (Runnable action; (action = due.poll()) != null; ) {
                action.run();
            }
            isServed.set(false);
        } while (!due.isEmpty() && isServed.compareAndSet(false, true));
    }
}
