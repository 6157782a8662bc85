package dev.raddle.pool;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Adapts a user-supplied queue, which may order, delay and bound its tasks in any way. */
final class QueueAdapter implements WorkQueue {

    private final BlockingQueue<Runnable> queue;
    private final boolean isDirectHandoff; // the queue never holds a task
    private final WaiterQueue putters = new WaiterQueue(false);
    private final RemovedTasks removed;

    QueueAdapter(BlockingQueue<Runnable> queue, RemovedTasks removed) {
        this.queue = queue;
        this.removed = removed;
        this.isDirectHandoff = queue.remainingCapacity() == 0 && queue.isEmpty();
    }

    @Override
    public boolean offer(Runnable task) {
        return queue.offer(task);
    }

    @Override
    public @Nullable Runnable poll(TaskBuffer.Timestamp stamp) {
        Runnable task = queue.poll();
        if (task != null) {
            signalPutter();
        }
        return task;
    }

    @Override
    public Runnable take(TaskBuffer.Timestamp stamp) throws InterruptedException {
        Runnable task = queue.take();
        signalPutter();
        return task;
    }

    private void signalPutter() {
        VarHandle.fullFence();
        putters.signal();
    }

    @Override
    public boolean takeBack(Runnable task) {
        boolean found = queue.remove(task);
        if (found) {
            signalPutter();
        }
        return found;
    }

    /** Removes and rejects the first task that is equal to the argument, which need not be the same object. */
    @Override
    public boolean remove(Object task) {
        for (Runnable queued : snapshot()) {
            if (queued.equals(task)) {
                return removeQueued(queued);
            }
        }
        return false;
    }

    private boolean removeQueued(Runnable task) {
        boolean found = takeBack(task);
        if (found) {
            removed.add(task);
        }
        return found;
    }

    @Override
    public void purge() {
        for (Runnable task : snapshot()) {
            if (RemovedTasks.isCancelled(task)) {
                removeQueued(task); // the iterator does not report whether another thread has taken the task
            }
        }
    }

    private List<Runnable> snapshot() {
        return List.of(queue.toArray(new Runnable[0]));
    }

    /**
     * {@code drainTo} of a delay queue drains only the tasks that are due; the others are removed one by one, in order.
     */
    @Override
    public List<Runnable> drainAll(LongConsumer acceptedAt) {
        List<Runnable> tasks = new ArrayList<>();
        queue.drainTo(tasks);
        for (Runnable task : inOrder(snapshot())) {
            if (queue.remove(task)) {
                tasks.add(task);
            }
        }
        tasks.forEach(task -> acceptedAt.accept(TaskBuffer.Timestamp.UNKNOWN));
        return tasks;
    }

    private static List<Runnable> inOrder(List<Runnable> tasks) {
        if (!tasks.stream().allMatch(Delayed.class::isInstance)) {
            return tasks;
        }
        return tasks.stream()
                .map(task -> new Due(task, ((Delayed) task).getDelay(TimeUnit.NANOSECONDS)))
                .sorted(Comparator.comparingLong(Due::nanos))
                .map(Due::task)
                .toList();
    }

    /**
     * A delayed task and its delay, which is read once: a delay read at each comparison might make the order
     * inconsistent.
     */
    private record Due(Runnable task, long nanos) {}

    @Override
    public boolean isEmpty() {
        return queue.isEmpty();
    }

    @Override
    public int size() {
        return queue.size();
    }

    @Override
    public int remainingCapacity() {
        return queue.remainingCapacity();
    }

    @Override
    public boolean isDirectHandoff() {
        return isDirectHandoff;
    }

    @Override
    public WaiterQueue putters() {
        return putters;
    }
}
