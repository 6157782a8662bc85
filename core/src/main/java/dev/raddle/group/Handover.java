package dev.raddle.group;

import dev.raddle.task.Scheduler;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Starts that threads from outside leave to the carriers of virtual threads, when these may all be busy. */
final class Handover {

    /*
     * Overview.
     *
     * A carrier that finds work in one queue stays there as long as it finds more. Tasks that each make the next possible
     * keep it there for good, and a virtual thread that a platform thread has started lies in another queue: it may wait
     * for seconds, in spite of a cap and of all fairness. One that was started on a carrier lies in the right queue.
     *
     * So the outsider starts a virtual thread for the granted run, as ever, and leaves a note besides. Whoever ends a task
     * in a virtual thread meanwhile starts the runs of all notes there and then. Between the two threads that a run may
     * have, the note decides: whoever takes the run out of it has it, the other ends. So a run begins even if no task ever
     * ends, and once.
     */
    private final ConcurrentLinkedQueue<Note> notes = new ConcurrentLinkedQueue<>();

    private static final class Note extends AtomicReference<@Nullable GroupRun<?>> implements Runnable {
        private static final long serialVersionUID = 1;

        Note(GroupRun<?> run) {
            super(run);
        }

        @Override
        public void run() {
            GroupRun<?> run = getAndSet(null);
            if (run != null) {
                run.run();
            }
        }
    }

    /** Starts a granted run on a virtual thread, or leaves it to who comes before that begins. */
    void leave(GroupRun<?> run) {
        Note note = new Note(run);
        notes.add(note);
        try {
            Scheduler.virtualThreads().execute(note);
        } catch (Throwable noThread) {
            if (note.getAndSet(null) != null) {
                throw noThread;
            }
        }
    }

    /** Takes a run that the calling thread, a virtual one, then starts; null if there is none left. */
    @Nullable
    GroupRun<?> take() {
        for (Note note; (note = notes.poll()) != null; ) {
            GroupRun<?> run = note.getAndSet(null);
            if (run != null) {
                return run;
            }
        }
        return null;
    }
}
