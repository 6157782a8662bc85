package dev.raddle.restate;

import dev.raddle.flow.CallResult;
import dev.raddle.task.CancelledException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The threads of one attempt of one run in this process: the one that drives the flow, and those that call functions of
 * its nodes.
 */
final class LocalCalls {

    private final Map<String, Thread> callers = new HashMap<>(); // by the ids of nodes; guarded by this
    private final Set<String> cancelled = new HashSet<>(); // the ids of nodes; guarded by this
    private @Nullable Thread driver; // guarded by this
    private boolean closed; // guarded by this

    /** Drives the flow in this thread, until it ends or this attempt is closed, which interrupts it. */
    <T> T drive(Supplier<T> loop) {
        synchronized (this) {
            driver = Thread.currentThread();
        }
        try {
            return loop.get();
        } finally {
            synchronized (this) {
                driver = null;
            }
        }
    }

    /**
     * Calls a function of a node in this thread. An interrupt that is meant for it does not outlive the call.
     *
     * @return its result, or a failure if the node was ended before; nothing waits for that
     */
    CallResult call(String node, Supplier<CallResult> function) {
        if (!enter(node)) {
            return new CallResult.Failed(new CancelledException("node \"" + node + "\" was ended before its call"));
        }
        try {
            return function.get();
        } finally {
            exit(node);
        }
    }

    private synchronized boolean enter(String node) {
        if (closed || cancelled.contains(node)) {
            return false;
        }
        callers.put(node, Thread.currentThread());
        return true;
    }

    private synchronized void exit(String node) {
        callers.remove(node);
        Thread.interrupted();
    }

    /** Interrupts the call of a node, or prevents it if it has not begun. */
    synchronized void cancel(String node) {
        cancelled.add(node);
        Thread caller = callers.get(node);
        if (caller != null) {
            caller.interrupt();
        }
    }

    /**
     * Interrupts all threads, because the connection to the engine has ended. No result of a call can be stored any
     * more. The driver may wait for an answer that never comes: the SDK does not end its wait when the engine has
     * suspended the run.
     */
    synchronized void close() {
        closed = true;
        callers.values().forEach(Thread::interrupt);
        if (driver != null) {
            driver.interrupt();
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }
}
