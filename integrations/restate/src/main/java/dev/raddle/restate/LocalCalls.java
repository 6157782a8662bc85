package dev.raddle.restate;

import dev.raddle.task.CancelledException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;

/** The calls of user functions that one attempt of one run makes in this process, so that they can be interrupted. */
final class LocalCalls {

    private final Map<String, Thread> callers = new HashMap<>(); // by the ids of nodes; guarded by this
    private final Set<String> cancelled = new HashSet<>(); // the ids of nodes; guarded by this
    private boolean closed; // guarded by this

    /**
     * Calls a function of a node in this thread. An interrupt that is meant for it does not outlive the call.
     *
     * @throws CancelledException if the node has been cancelled, or this attempt has ended
     */
    <T> T call(String node, Callable<T> function) throws Exception {
        enter(node);
        try {
            return function.call();
        } finally {
            exit(node);
        }
    }

    private synchronized void enter(String node) {
        if (closed || cancelled.contains(node)) {
            throw new CancelledException("node \"" + node + "\" was ended before its call began");
        }
        callers.put(node, Thread.currentThread());
    }

    private synchronized void exit(String node) {
        callers.remove(node);
        Thread.interrupted();
    }

    /** Interrupts the call of a node, or refuses it if it has not begun. */
    synchronized void cancel(String node) {
        cancelled.add(node);
        Thread caller = callers.get(node);
        if (caller != null) {
            caller.interrupt();
        }
    }

    /** Interrupts all calls, whose results can no longer be stored. */
    synchronized void close() {
        closed = true;
        callers.values().forEach(Thread::interrupt);
    }

    synchronized boolean isClosed() {
        return closed;
    }
}
