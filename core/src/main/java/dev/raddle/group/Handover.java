package dev.raddle.group;

import dev.raddle.task.Scheduler;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Starts that threads from outside leave to the carriers of virtual threads, when these may all be busy. */
final class Handover implements Runnable {

    /*
     * Overview.
     *
     * A carrier that finds work in one queue stays there as long as it finds more. Tasks that each make the next possible
     * keep it there for good, and a virtual thread that a platform thread has started lies in another queue: it may wait
     * for seconds, in spite of a cap and of all fairness. One that was started on a carrier lies in the right queue.
     *
     * So the outsider puts the granted run into `runs` and starts a virtual thread which runs one of those, whichever, if
     * there is one. Whoever ends a task in a virtual thread meanwhile starts what lies in `runs` there and then. There are
     * never more runs than such threads under way: so each is begun even if no task ever ends, and each once, because it
     * is taken out by who begins it. A thread that finds none has come too late, and ends.
     */
    private final ConcurrentLinkedQueue<GroupRun<?>> runs = new ConcurrentLinkedQueue<>();

    /** Leaves a granted run to whoever comes first. */
    void leave(GroupRun<?> run) {
        runs.add(run);
        try {
            Scheduler.virtualThreads().execute(this);
        } catch (Throwable noThread) {
            if (runs.remove(run)) {
                throw noThread;
            }
        }
    }

    /** Takes a run that the calling thread, a virtual one, then starts; null if none was left here. */
    @Nullable
    GroupRun<?> take() {
        return runs.poll();
    }

    @Override
    public void run() {
        GroupRun<?> run = runs.poll();
        if (run != null) {
            run.run();
        }
    }
}
