package dev.raddle.flow.threads;

import dev.raddle.task.ExceptionSink;
import java.util.ArrayDeque;

/**
 * The steps that a thread has deferred for the runs that it is in, and runs when it has returned to the bottom of its
 * stack. Thus nested runs of any depth do not grow the stack. Confined to its thread.
 */
public final class DeferredSteps {

    /** Whether the thread runs under the permit of a group, which is for one node. */
    public final boolean isGrouped;

    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    public DeferredSteps(boolean isGrouped) {
        this.isGrouped = isGrouped;
    }

    public void add(Runnable step) {
        steps.add(step);
    }

    boolean isEmpty() {
        return steps.isEmpty();
    }

    /** Runs all steps, including those that are added in the meantime. */
    public void runAll(ExceptionSink sink) {
        for (Runnable step; (step = steps.poll()) != null; ) {
            try {
                step.run();
            } catch (Throwable failure) {
                sink.report("a deferred step of a nested flow", failure);
            }
        }
    }
}
