package dev.raddle.pool;

import dev.raddle.task.Rejectable;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A queue that a pool was given. It may order, delay and bound its tasks in any way. */
final class ForeignQueue implements Intake {

    private final BlockingQueue<Runnable> queue;
    private final boolean handsOver; // has never room for a task
    private final WaitingRoom putters = new WaitingRoom(false);
    private final LongAdder removed = new LongAdder();

    ForeignQueue(BlockingQueue<Runnable> queue) {
        this.queue = queue;
        this.handsOver = queue.remainingCapacity() == 0 && queue.isEmpty();
    }

    @Override
    public boolean offer(Runnable task) {
        return queue.offer(task);
    }

    @Override
    public @Nullable Runnable poll(Store.Stamp stamp) {
        Runnable task = queue.poll();
        if (task != null) {
            callPutter();
        }
        return task;
    }

    @Override
    public Runnable take(Store.Stamp stamp) throws InterruptedException {
        Runnable task = queue.take();
        callPutter();
        return task;
    }

    private void callPutter() {
        VarHandle.fullFence();
        putters.call();
    }

    @Override
    public boolean takeBack(Runnable task) {
        boolean found = queue.remove(task);
        if (found) {
            callPutter();
        }
        return found;
    }

    @Override
    public boolean remove(Object task) {
        boolean found = queue.remove(task);
        if (found) {
            noteRemoved();
            if (task instanceof Runnable removed) {
                Rejectable.reject(removed, "was removed from its pool");
            }
        }
        return found;
    }

    @Override
    public @Nullable Runnable discard() {
        Runnable task = queue.poll();
        if (task != null) {
            noteRemoved();
        }
        return task;
    }

    private void noteRemoved() {
        removed.increment();
        callPutter();
    }

    @Override
    public void purge() {
        for (Runnable task : snapshot()) {
            if (Intake.isCancelled(task)) {
                remove(task); // not through the iterator, which does not say whether somebody else took it
            }
        }
    }

    private List<Runnable> snapshot() {
        return List.of(queue.toArray(new Runnable[0]));
    }

    /** A queue of delayed tasks drains only those that are due; the others follow one by one, in order. */
    @Override
    public List<Runnable> drainOut(LongConsumer acceptedAt) {
        List<Runnable> tasks = new ArrayList<>();
        queue.drainTo(tasks);
        for (Runnable task : inOrder(snapshot())) {
            if (queue.remove(task)) {
                tasks.add(task);
            }
        }
        tasks.forEach(task -> acceptedAt.accept(Store.Stamp.UNKNOWN));
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

    /** A delayed task and its delay, read once: a comparison that asks anew may contradict itself. */
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
    public boolean handsOver() {
        return handsOver;
    }

    @Override
    public WaitingRoom putters() {
        return putters;
    }

    @Override
    public long takenByOthers() {
        return removed.sum();
    }
}
