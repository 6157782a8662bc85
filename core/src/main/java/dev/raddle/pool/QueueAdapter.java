package dev.raddle.pool;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Adapts a user-supplied queue, which may order, delay and bound its tasks in any way. */
final class QueueAdapter implements WorkQueue {

    private final BlockingQueue<Runnable> queue;
    private final WaiterQueue putters = new WaiterQueue(false);
    private final Observation observation;

    QueueAdapter(BlockingQueue<Runnable> queue, Observation observation) {
        this.queue = queue;
        this.observation = observation;
    }

    @Override
    public boolean offer(Runnable task) {
        return queue.offer(task);
    }

    @Override
    public @Nullable Runnable poll(TaskBuffer.Timestamp stamp) {
        Runnable task = queue.poll();
        if (task != null || queue.remainingCapacity() > 0) { // the user may have taken the tasks
            signalPutter();
        }
        return task;
    }

    @Override
    public @Nullable Runnable take(Worker worker, @Nullable Deadline deadline) throws InterruptedException {
        Runnable task = deadline == null ? queue.take() : take(worker, deadline.time(), deadline);
        if (task != null) {
            signalPutter();
        }
        return task;
    }

    private @Nullable Runnable take(Worker worker, TimeSource time, Deadline deadline) throws InterruptedException {
        if (time == TimeSource.system()) {
            return queue.poll(deadline.remaining().toNanos(), TimeUnit.NANOSECONDS);
        }
        Alarm alarm = deadline.alarm(worker::interruptIfIdle);
        try {
            return queue.take();
        } finally {
            alarm.cancel();
        }
    }

    private void signalPutter() {
        VarHandle.fullFence();
        putters.signal();
    }

    @Override
    public boolean takeBack(Runnable task) {
        return removeFirst(task, each -> each == task) != null;
    }

    @Override
    public boolean remove(Object task) {
        Runnable found = removeFirst(task, each -> Objects.equals(task, each));
        if (found != null) {
            observation.removedUnreceived(found);
        }
        return found != null;
    }

    @Override
    public void purge() {
        for (Runnable task : snapshot()) {
            if (Observation.isCancelled(task) && takeBack(task)) {
                observation.removedUnreceived(task); // an iterator does not report whether another thread has taken it
            }
        }
    }

    private @Nullable Runnable removeFirst(Object wanted, Predicate<Object> matches) {
        Match match = new Match(wanted, matches);
        if (!queue.remove(match)) {
            return null;
        }
        signalPutter();
        return match.found;
    }

    /**
     * The argument of {@code Queue.remove}, which calls its {@code equals}. So the one search that removes a task also
     * finds out which it was, if several are equal.
     */
    @SuppressWarnings("EqualsHashCode") // the hash code of the wanted task, for a queue that looks it up
    private static final class Match implements Runnable {
        private final Object wanted;
        private final Predicate<Object> matches;
        private @Nullable Runnable found;

        Match(Object wanted, Predicate<Object> matches) {
            this.wanted = wanted;
            this.matches = matches;
        }

        @Override
        public boolean equals(@Nullable Object queued) {
            boolean isMatch = queued instanceof Runnable && matches.test(queued);
            if (isMatch) {
                found = (Runnable) queued;
            }
            return isMatch;
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(wanted);
        }

        @Override
        public void run() {}
    }

    private List<Runnable> snapshot() {
        return List.of(queue.toArray(new Runnable[0]));
    }

    /**
     * {@code drainTo} of a delay queue drains only the tasks that are due; the others are removed one by one, in order.
     */
    @Override
    public void drainAll(ObjLongConsumer<Runnable> receiver) {
        List<Runnable> tasks = new ArrayList<>();
        queue.drainTo(tasks);
        for (Runnable task : inOrder(snapshot())) {
            if (takeBack(task)) {
                tasks.add(task);
            }
        }
        tasks.forEach(task -> receiver.accept(task, TaskBuffer.Timestamp.UNKNOWN));
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
    public WaiterQueue putters() {
        return putters;
    }
}
