package dev.raddle.checks.stress;

import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ThreadPool;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;

/** A pool whose workers are run by the actors: a started thread is queued here until an actor runs its body. */
final class PoolRig {

    static final String ACCEPTED = "accepted";
    static final String REJECTED = "rejected";

    final ThreadPool pool;
    private final Queue<ActorThread> started = new ConcurrentLinkedQueue<>();

    PoolRig(UnaryOperator<PoolBuilder> rules) {
        pool = rules.apply(ThreadPool.builder("rig").threadFactory(ActorThread::new))
                .build();
    }

    /** A thread whose body an actor runs. An interrupt of this thread interrupts the actor. */
    private final class ActorThread extends Thread {
        private final Runnable worker;
        private Thread actor; // guarded by this

        ActorThread(Runnable worker) {
            this.worker = worker;
        }

        @Override
        public void start() {
            started.add(this);
        }

        void runBody() {
            setActor(Thread.currentThread());
            try {
                worker.run();
            } finally {
                setActor(null);
                Thread.interrupted(); // it must not reach the next actor in this thread
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

    /** Runs the body of the thread that was started first, until its worker exits. Does nothing if there is none. */
    void runNextThread() {
        ActorThread thread = started.poll();
        if (thread != null) {
            thread.runBody();
        }
    }

    /** Runs the bodies of all started threads, one after the other. */
    void runAllThreads() {
        while (!started.isEmpty()) {
            runNextThread();
        }
    }
}
