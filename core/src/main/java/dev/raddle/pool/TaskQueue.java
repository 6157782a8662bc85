package dev.raddle.pool;

import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.AbstractQueue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The built-in queue of a pool: a buffer with a queue of waiters on each side. */
final class TaskQueue extends AbstractQueue<Runnable> implements BlockingQueue<Runnable>, WorkQueue {

    /*
     * Overview.
     *
     * The buffer keeps the order and the capacity, the waiter queues keep the waiting threads; each is exact by itself.
     * One rule on each side connects them, which the overview of WaiterQueue explains:
     *
     *   putters    offer, fence, signal a taker
     *   takers     poll, fence, signal a putter; the fence is omitted while the queue is unbounded
     *   waiters    enqueue, try again, wait, dequeue, try again
     *
     * Comparisons call user code (equals), so they are applied to what a cursor has read, outside every lock. A match
     * is removed if it is still in the position where it was read. So a search takes time in proportion to the distance
     * from the front.
     *
     * The pool's workers and other callers use different methods to take tasks, because the pool does not run, but
     * counts, what others take. Tasks that others remove without receiving them are rejected, outside the locks.
     */

    private static final long FOREVER = Long.MAX_VALUE;

    /** An attempt to take the first task. */
    private final class TakeAttempt implements BooleanSupplier {
        private final TaskBuffer.Timestamp stamp;
        private @Nullable Runnable task;

        TakeAttempt(TaskBuffer.Timestamp stamp) {
            this.stamp = stamp;
        }

        @Override
        public boolean getAsBoolean() {
            task = poll(stamp);
            return task != null;
        }
    }

    private final TaskBuffer buffer;
    private final @Nullable ToIntFunction<Object> rankFunction;
    private final TimeSource time;
    private final Observation observation;
    private final WaiterQueue takers = new WaiterQueue(true);
    private final WaiterQueue putters = new WaiterQueue(false);

    TaskQueue(PoolBuilder settings, Observation observation) {
        int capacity = settings.queueCapacity;
        this.rankFunction = settings.priority;
        this.buffer = rankFunction == null ? new FifoBuffer(capacity) : new RankedBuffer(capacity);
        this.time = settings.timeSource;
        this.observation = observation;
    }

    @Override
    public WaiterQueue putters() {
        return putters;
    }

    int capacity() {
        return buffer.capacity();
    }

    void setCapacity(int capacity) {
        buffer.setCapacity(capacity);
        VarHandle.fullFence();
        putters.signalAll();
    }

    @Override
    public boolean offer(Runnable task) {
        Objects.requireNonNull(task);
        return offer(task, rankFunction == null ? 0 : rank(task));
    }

    private boolean offer(Runnable task, int rank) {
        if (!buffer.offer(task, rank, observation.isOn() ? time.nanoTime() : TaskBuffer.Timestamp.UNKNOWN)) {
            return false;
        }
        VarHandle.fullFence();
        takers.signal();
        return true;
    }

    private int rank(Runnable task) {
        return rankFunction == null ? 0 : rankFunction.applyAsInt(PooledTask.original(task));
    }

    @Override
    public @Nullable Runnable poll(TaskBuffer.Timestamp stamp) {
        Runnable task = buffer.poll(stamp);
        if (task != null) {
            signalPutter();
        }
        return task;
    }

    @Override
    public @Nullable Runnable take(Worker worker, @Nullable Deadline deadline) throws InterruptedException {
        TaskBuffer.Timestamp stamp = worker.queuedAt;
        if (takers.spin(buffer) && buffer.hasTask()) { // again: no putter has signalled meanwhile
            Runnable task = poll(stamp);
            if (buffer.hasTask()) {
                takers.signal();
            }
            if (task != null) {
                return task;
            }
        }
        return awaitTask(stamp, deadline);
    }

    private @Nullable Runnable awaitTask(TaskBuffer.Timestamp stamp, @Nullable Deadline deadline)
            throws InterruptedException {
        TakeAttempt takeAttempt = new TakeAttempt(stamp);
        takers.awaitUntil(new WaiterQueue.Waiter(null, deadline), takeAttempt, buffer, null);
        return takeAttempt.task;
    }

    @Override
    public boolean takeBack(Runnable task) {
        boolean taken = buffer.cursor().removeNext(each -> each == task) != null;
        if (taken) {
            signalPutter();
        }
        return taken;
    }

    private void signalPutter() {
        if (buffer.capacity() != Integer.MAX_VALUE) {
            VarHandle.fullFence();
            putters.signal();
        }
    }

    @Override
    public void put(Runnable task) throws InterruptedException {
        offer(task, FOREVER, TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean offer(Runnable task, long timeout, TimeUnit unit) throws InterruptedException {
        checkInterrupt();
        int rank = rank(Objects.requireNonNull(task));
        if (offer(task, rank)) {
            return true;
        }
        if (timeout <= 0) {
            return false;
        }
        WaiterQueue.Waiter waiter = new WaiterQueue.Waiter(null, deadline(unit.toNanos(timeout)));
        return putters.awaitUntil(waiter, () -> offer(task, rank), () -> buffer.size() < buffer.capacity(), null);
    }

    @Override
    public Runnable take() throws InterruptedException {
        return Objects.requireNonNull(poll(FOREVER, TimeUnit.NANOSECONDS));
    }

    @Override
    public @Nullable Runnable poll() {
        return received(poll(new TaskBuffer.Timestamp()));
    }

    @Override
    public @Nullable Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
        checkInterrupt();
        TaskBuffer.Timestamp stamp = new TaskBuffer.Timestamp();
        Runnable task = poll(stamp);
        return received(task != null || timeout <= 0 ? task : awaitTask(stamp, deadline(unit.toNanos(timeout))));
    }

    private static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    private @Nullable Deadline deadline(long nanos) {
        return nanos == FOREVER ? null : Deadline.after(time, Duration.ofNanos(nanos));
    }

    private @Nullable Runnable received(@Nullable Runnable task) {
        if (task != null) {
            observation.removed(task);
        }
        return task;
    }

    @Override
    public @Nullable Runnable peek() {
        return buffer.peek();
    }

    @Override
    public int size() {
        return buffer.size();
    }

    @Override
    public int remainingCapacity() {
        int capacity = buffer.capacity();
        return capacity == Integer.MAX_VALUE ? capacity : Math.max(0, capacity - buffer.size());
    }

    @Override
    public boolean remove(@Nullable Object unwanted) {
        if (unwanted == null) {
            return false;
        }
        Runnable task = buffer.cursor().removeNext(unwanted::equals);
        if (task != null) {
            signalPutter();
            observation.removedUnreceived(task);
        }
        return task != null;
    }

    @Override
    public boolean removeAll(Collection<?> unwanted) {
        Objects.requireNonNull(unwanted);
        return removeIf(unwanted::contains);
    }

    @Override
    public boolean retainAll(Collection<?> wanted) {
        Objects.requireNonNull(wanted);
        return removeIf(task -> !wanted.contains(task));
    }

    @Override
    public boolean removeIf(Predicate<? super Runnable> unwanted) {
        Objects.requireNonNull(unwanted);
        List<Runnable> tasks = new ArrayList<>();
        try {
            TaskBuffer.Cursor cursor = buffer.cursor();
            for (Runnable task; (task = cursor.removeNext(unwanted::test)) != null; ) {
                tasks.add(task);
            }
        } finally {
            if (!tasks.isEmpty()) {
                signalPutter();
                tasks.forEach(observation::removedUnreceived);
            }
        }
        return !tasks.isEmpty();
    }

    @Override
    public void clear() {
        drainAll((task, acceptedAt) -> observation.removedUnreceived(task));
    }

    @Override
    public int drainTo(Collection<? super Runnable> target) {
        return drainTo(target, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super Runnable> target, int maxElements) {
        if (Objects.requireNonNull(target) == this) {
            throw new IllegalArgumentException("a queue cannot be drained to itself");
        }
        int drained = 0;
        TaskBuffer.Timestamp stamp = new TaskBuffer.Timestamp();
        for (Runnable task; drained < maxElements && (task = poll(stamp)) != null; drained++) {
            observation.removed(task);
            target.add(task);
        }
        return drained;
    }

    @Override
    public void drainAll(ObjLongConsumer<Runnable> receiver) {
        TaskBuffer.Timestamp stamp = new TaskBuffer.Timestamp();
        for (Runnable task; (task = poll(stamp)) != null; ) {
            receiver.accept(task, stamp.nanoTime);
        }
    }

    @Override
    public void purge() {
        removeIf(Observation::isCancelled);
    }

    /**
     * Returns a weakly consistent iterator; its {@code remove} removes the task if it is still in the position where it
     * was read.
     */
    @Override
    public Iterator<Runnable> iterator() {
        return new TaskIterator(buffer.cursor());
    }

    private final class TaskIterator implements Iterator<Runnable> {
        private final TaskBuffer.Cursor cursor;
        private @Nullable Runnable upcoming; // the task that next() will return, if already read
        private @Nullable Runnable removable; // the task that next() has returned, until it is removed

        TaskIterator(TaskBuffer.Cursor cursor) {
            this.cursor = cursor;
        }

        @Override
        public boolean hasNext() {
            if (upcoming == null) {
                upcoming = cursor.next();
            }
            return upcoming != null;
        }

        @Override
        public Runnable next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no task is left");
            }
            Runnable task = Objects.requireNonNull(upcoming);
            upcoming = null;
            cursor.mark();
            removable = task;
            return task;
        }

        @Override
        public void remove() {
            Runnable task = removable;
            if (task == null) {
                throw new IllegalStateException("remove() may be called once after each next()");
            }
            removable = null;
            if (cursor.removeMarked()) {
                signalPutter();
                observation.removedUnreceived(task);
            }
        }
    }
}
