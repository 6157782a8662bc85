package dev.raddle.testing;

import dev.raddle.task.Scheduler;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A scheduler for tests that queues tasks until the test runs them, one by one, in the calling thread. So a test
 * controls what happens after a task has received its permits and before it begins.
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

    /** Creates a scheduler without tasks and without a maximum number of threads. */
    public StepScheduler() {
        this(Integer.MAX_VALUE);
    }

    /**
     * Creates a scheduler without tasks and with a maximum number of threads.
     *
     * @param parallelism the value of {@link #parallelism()}, at least 1
     * @throws IllegalArgumentException if {@code parallelism} is less than 1
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
     * Runs the oldest queued task in the calling thread. A task that waits blocks this thread: if a retry delay uses
     * {@link VirtualTime} and only this thread advances it, the task never ends. Use {@link #startNext()} for such a
     * task.
     *
     * @return false if there was no task
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
     * Runs the oldest queued task in a thread of its own, and does not wait for it. For tasks that wait, such as one
     * with a delay between two attempts.
     *
     * {@snippet :
     * Thread runner = steps.startNext().orElseThrow();
     * time.awaitAlarms(1, Duration.ofSeconds(30)); // the delay has begun
     * time.advance(Duration.ofMillis(100)); // the next attempt begins
     * runner.join();
     * }
     *
     * @return the started daemon thread, which ends with the task; empty if there was no task
     */
    public Optional<Thread> startNext() {
        Runnable task = tasks.poll();
        return task == null
                ? Optional.empty()
                : Optional.of(Thread.ofPlatform().name("step").daemon().start(task));
    }

    /** Runs all queued tasks, including those that are added meanwhile. */
    public void runAll() {
        while (runNext()) {
            // until none is left
        }
    }

    /**
     * Returns the number of queued tasks.
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
