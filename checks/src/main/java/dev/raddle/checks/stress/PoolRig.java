package dev.raddle.checks.stress;

import dev.raddle.pool.ThreadPool;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;

/** A pool whose workers are run by the actors: a thread that was started waits here until one takes its place. */
final class PoolRig {

    static final String ACCEPTED = "accepted";
    static final String REJECTED = "rejected";

    final ThreadPool pool;
    private final Queue<Stage> started = new ConcurrentLinkedQueue<>();

    PoolRig(UnaryOperator<ThreadPool.Builder> rules) {
        pool = rules.apply(ThreadPool.builder("rig").threadFactory(Stage::new)).build();
    }

    /** A thread that an actor plays: interrupts reach the actor. */
    private final class Stage extends Thread {
        private final Runnable worker;
        private Thread actor; // guarded by this

        Stage(Runnable worker) {
            this.worker = worker;
        }

        @Override
        public void start() {
            started.add(this);
        }

        void play() {
            setActor(Thread.currentThread());
            try {
                worker.run();
            } finally {
                setActor(null);
                Thread.interrupted(); // the next actor in this thread did not earn it
            }
        }

        private synchronized void setActor(Thread actor) {
            this.actor = actor;
        }

        @Override
        public synchronized void interrupt() {
            if (actor != null) {
                actor.interrupt();
            }
        }
    }

    String execute(Runnable task) {
        try {
            pool.execute(task);
            return ACCEPTED;
        } catch (RejectedExecutionException full) {
            return REJECTED;
        }
    }

    /** Is the thread that was started first, until its worker leaves. Does nothing if none was. */
    void playNext() {
        Stage stage = started.poll();
        if (stage != null) {
            stage.play();
        }
    }

    /** Is every thread that was started, one after the other. */
    void playAll() {
        while (!started.isEmpty()) {
            playNext();
        }
    }
}
