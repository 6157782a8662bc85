package dev.raddle.scope;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.PendingAlarm;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Task;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Reports slow tasks: once when a running task exceeds a threshold, and again with the final duration when it ends.
 *
 * {@snippet :
 * ThreadHook slow = SlowTaskHook.create(Duration.ofSeconds(1), event -> log.warn("{}", event));
 * }
 */
public final class SlowTaskHook implements ThreadHook {

    private final Duration threshold;
    private final Consumer<SlowTaskEvent> consumer;
    private final TimeSource time;
    private final ExceptionSink sink = ExceptionSink.logging();
    private final ConcurrentHashMap<TaskInfo, PendingAlarm> running = new ConcurrentHashMap<>();

    private SlowTaskHook(Duration threshold, Consumer<SlowTaskEvent> consumer, TimeSource time) {
        this.threshold = threshold;
        this.consumer = consumer;
        this.time = time;
    }

    /**
     * Creates a hook on real time.
     *
     * @param threshold the running time from which on a task is slow, positive
     * @param consumer the receiver of the events. While the task runs, it is called in a virtual thread, or in the
     *     thread that advances a {@link dev.raddle.testing.VirtualTime}, and its exceptions are logged; at the end it
     *     is called in the thread that ends the task and its exceptions go to the scope's sink
     * @return a new hook
     * @throws IllegalArgumentException if the threshold is not positive
     */
    public static SlowTaskHook create(Duration threshold, Consumer<SlowTaskEvent> consumer) {
        return create(threshold, consumer, TimeSource.system());
    }

    /**
     * Creates a hook.
     *
     * @param threshold the running time from which on a task is slow, positive
     * @param consumer the receiver of the events, called as with {@link #create(Duration, Consumer)}
     * @param time the time source of the scopes
     * @return a new hook
     * @throws IllegalArgumentException if the threshold is not positive
     */
    public static SlowTaskHook create(Duration threshold, Consumer<SlowTaskEvent> consumer, TimeSource time) {
        if (!threshold.isPositive()) {
            throw new IllegalArgumentException("threshold of slow tasks must be positive, was " + threshold);
        }
        return new SlowTaskHook(
                threshold, Objects.requireNonNull(consumer, "consumer"), Objects.requireNonNull(time, "time"));
    }

    @Override
    public void onStart(TaskInfo task) {
        PendingAlarm alarm = new PendingAlarm();
        OffloadExecutor elsewhere = new OffloadExecutor(sink, time);
        running.put(task, alarm);
        alarm.arm(time, threshold, () -> elsewhere.execute(() -> reportWhileRunning(task)));
    }

    @Override
    public void onSuccess(TaskInfo task, Duration ran) {
        ended(task, Task.State.SUCCESS, ran);
    }

    @Override
    public void onFailure(TaskInfo task, Throwable error, Duration ran) {
        ended(task, Task.State.FAILED, ran);
    }

    @Override
    public void onCancel(TaskInfo task, Duration ran) {
        ended(task, Task.State.CANCELLED, ran);
    }

    private void reportWhileRunning(TaskInfo task) {
        if (running.remove(task) != null) {
            try {
                consumer.accept(new SlowTaskEvent(task, Task.State.RUNNING, threshold));
            } catch (Throwable failure) {
                sink.report("consumer of slow tasks, for task \"" + task.name() + "\"", failure);
            }
        }
    }

    private void ended(TaskInfo task, Task.State state, Duration ran) {
        PendingAlarm alarm = running.remove(task);
        if (alarm != null) {
            alarm.disarm();
        }
        if (ran.compareTo(threshold) >= 0) {
            consumer.accept(new SlowTaskEvent(task, state, ran));
        }
    }
}
