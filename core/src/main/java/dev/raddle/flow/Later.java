package dev.raddle.flow;

import dev.raddle.task.ExceptionSink;
import java.util.ArrayDeque;

/**
 * What a thread has still to do for the runs that it is in, which it does when it is back at the bottom of its stack. So runs in
 * runs need no stack, however deep they are. Only its thread uses it.
 */
final class Later {

    /** Whether the thread has come with the permit of a group, which is for one node. */
    final boolean isBorrowed;

    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    Later(boolean isBorrowed) {
        this.isBorrowed = isBorrowed;
    }

    void add(Runnable step) {
        steps.add(step);
    }

    boolean isEmpty() {
        return steps.isEmpty();
    }

    /** Does what there is to do, and what is added meanwhile. */
    void runAll(ExceptionSink sink) {
        for (Runnable step; (step = steps.poll()) != null; ) {
            try {
                step.run();
            } catch (Throwable failure) {
                sink.report("a step of a flow in a flow", failure);
            }
        }
    }
}
