package dev.raddle.testing;

import dev.raddle.task.Scheduler;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A scheduler that keeps tasks until it is told to run them, one by one, in the thread that tells it: so a test decides
 * what happens between the moment a task is granted its permits and the moment it begins.
 *
 * {@snippet :
 * StepScheduler steps = new StepScheduler();
 * steps.execute(() -> System.out.println("now"));
 * steps.runNext();
 * }
 */
public final class StepScheduler implements Scheduler {

    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final int parallelism;

    /** Creates a scheduler with no tasks, which does not say how many threads it has. */
    public StepScheduler() {
        this(Integer.MAX_VALUE);
    }

    /**
     * Creates a scheduler with no tasks, which says how many threads it has.
     *
     * @param parallelism what {@link #parallelism()} returns, at least 1
     * @throws IllegalArgumentException if it is less than 1
     */
    public StepScheduler(int parallelism) {
        if (parallelism < 1) {
            throw new IllegalArgumentException("parallelism must be at least 1, was " + parallelism);
        }
        this.parallelism = parallelism;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    @Override
    public int parallelism() {
        return parallelism;
    }

    /**
     * Runs the oldest task that was not run yet, in the calling thread. A task that waits keeps this thread: one with a retry
     * policy that rests on {@link VirtualTime} never ends if this thread is the one that would advance it. Use
     * {@link #startNext()} for such a task.
     *
     * @return false if there is none
     */
    public boolean runNext() {
        Runnable task = tasks.poll();
        if (task == null) {
            return false;
        }
        task.run();
        return true;
    }

    /**
     * Runs the oldest task that was not run yet in a thread of its own, and does not wait for it: for tasks that wait, such
     * as one that rests between two attempts.
     *
     * {@snippet :
     * Thread runner = steps.startNext().orElseThrow();
     * time.awaitAlarms(1, Duration.ofSeconds(30)); // until it rests
     * time.advance(Duration.ofMillis(100)); // the next attempt begins
     * runner.join();
     * }
     *
     * @return a daemon thread, which has been started and ends when the task does; empty if there is no task
     */
    public Optional<Thread> startNext() {
        Runnable task = tasks.poll();
        return task == null
                ? Optional.empty()
                : Optional.of(Thread.ofPlatform().name("step").daemon().start(task));
    }

    /** Runs tasks until there are none, those included that are placed meanwhile. */
    public void runAll() {
        while (runNext()) {
            // until none is left
        }
    }

    /**
     * Returns how many tasks have not been run yet.
     *
     * @return the length of the queue
     */
    public int size() {
        return tasks.size();
    }

    @Override
    public String toString() {
        return "step scheduler, " + tasks.size() + " waiting";
    }
}
