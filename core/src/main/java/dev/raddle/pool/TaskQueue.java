package dev.raddle.pool;

import dev.raddle.task.Rejectable;
import dev.raddle.time.Alarm;
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
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** A pool's own queue: a store with a waiting room on each side. */
final class TaskQueue extends AbstractQueue<Runnable> implements BlockingQueue<Runnable>, Intake {

    /*
     * Overview.
     *
     * The store keeps the order and the bound, the rooms keep those who wait; each is exact by itself. What binds them is one
     * rule on each side, which WaitingRoom's overview explains:
     *
     *   who puts in      offers, fences, calls a taker
     *   who takes out    polls, fences, calls a putter; the fence is left out while the queue has no bound
     *   who waits        joins the room, tries again, waits, leaves the room, tries again
     *
     * Comparing is foreign code (equals). It is done with what a pass over the store has met, outside of every lock, and what
     * was found is taken out if it still lies where it was met. So looking takes as long as what is found is far from the
     * front.
     *
     * The pool's workers and everybody else take through different doors, because what others take out is not run by the
     * pool, and is counted. What they remove without taking it is rejected, outside the locks.
     */

    private static final String REMOVED = "was removed from the queue of its pool";

    /** An attempt to take the first task. */
    private final class Taking implements BooleanSupplier {
        private final Store.Stamp stamp;
        private @Nullable Runnable task;

        Taking(Store.Stamp stamp) {
            this.stamp = stamp;
        }

        @Override
        public boolean getAsBoolean() {
            task = poll(stamp);
            return task != null;
        }
    }

    private final Store store;
    private final @Nullable ToIntFunction<Object> ranks;
    private final TimeSource time;
    private final BooleanSupplier stamping;
    private final WaitingRoom takers = new WaitingRoom(true);
    private final WaitingRoom putters = new WaitingRoom(false);
    private final BooleanSupplier hasTask;
    private final BooleanSupplier hasRoom;
    private final LongAdder takenByOthers = new LongAdder();

    TaskQueue(int capacity, @Nullable ToIntFunction<Object> ranks, TimeSource time, BooleanSupplier stamping) {
        this.store = ranks == null ? new FifoStore(capacity) : new RankedStore(capacity);
        this.hasTask = () -> store.size() != 0;
        this.hasRoom = () -> store.size() < store.capacity();
        this.ranks = ranks;
        this.time = time;
        this.stamping = stamping;
    }

    @Override
    public WaitingRoom putters() {
        return putters;
    }

    @Override
    public long takenByOthers() {
        return takenByOthers.sum();
    }

    int capacity() {
        return store.capacity();
    }

    void setCapacity(int capacity) {
        store.setCapacity(capacity);
        VarHandle.fullFence();
        putters.callAll();
    }

    @Override
    public boolean offer(Runnable task) {
        return offer(Objects.requireNonNull(task), rank(task));
    }

    private boolean offer(Runnable task, int rank) {
        if (!store.offer(task, rank, stamping.getAsBoolean() ? time.nanoTime() : Store.Stamp.UNKNOWN)) {
            return false;
        }
        VarHandle.fullFence();
        takers.call();
        return true;
    }

    private int rank(Runnable task) {
        return ranks == null ? 0 : ranks.applyAsInt(PooledTask.given(task));
    }

    @Override
    public @Nullable Runnable poll(Store.Stamp stamp) {
        Runnable task = store.poll(stamp);
        if (task != null) {
            callPutter();
        }
        return task;
    }

    @Override
    public Runnable take(Store.Stamp stamp) throws InterruptedException {
        Runnable task = poll(stamp);
        if (task == null && takers.look(hasTask)) {
            task = poll(stamp);
            if (hasTask.getAsBoolean()) {
                takers.call();
            }
        }
        return task != null ? task : Objects.requireNonNull(awaitTask(stamp, new WaitingRoom.Place()));
    }

    private @Nullable Runnable awaitTask(Store.Stamp stamp, WaitingRoom.Place place) throws InterruptedException {
        Taking taking = new Taking(stamp);
        takers.attempt(place, taking, hasTask);
        return taking.task;
    }

    private boolean awaitRoom(Runnable task, int rank, WaitingRoom.Place place) throws InterruptedException {
        return putters.attempt(place, () -> offer(task, rank), hasRoom);
    }

    @Override
    public boolean takeBack(Runnable task) {
        boolean taken = store.pass().removeNext(each -> each == task) != null;
        if (taken) {
            callPutter();
        }
        return taken;
    }

    private void callPutter() {
        if (store.capacity() != Integer.MAX_VALUE) {
            VarHandle.fullFence();
            putters.call();
        }
    }

    @Override
    public void put(Runnable task) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        int rank = rank(Objects.requireNonNull(task));
        if (!offer(task, rank)) {
            awaitRoom(task, rank, new WaitingRoom.Place());
        }
    }

    @Override
    public boolean offer(Runnable task, long timeout, TimeUnit unit) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        int rank = rank(Objects.requireNonNull(task));
        if (offer(task, rank)) {
            return true;
        }
        if (timeout <= 0) {
            return false;
        }
        WaitingRoom.Place place = new WaitingRoom.Place();
        Alarm alarm = time.after(Duration.ofNanos(unit.toNanos(timeout)), place::expire);
        try {
            return awaitRoom(task, rank, place);
        } finally {
            alarm.cancel();
        }
    }

    @Override
    public Runnable take() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Runnable task = take(new Store.Stamp());
        takenByOthers.increment();
        return task;
    }

    @Override
    public @Nullable Runnable poll() {
        return counted(poll(new Store.Stamp()));
    }

    @Override
    public @Nullable Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Store.Stamp stamp = new Store.Stamp();
        Runnable task = poll(stamp);
        if (task != null || timeout <= 0) {
            return counted(task);
        }
        WaitingRoom.Place place = new WaitingRoom.Place();
        Alarm alarm = time.after(Duration.ofNanos(unit.toNanos(timeout)), place::expire);
        try {
            return counted(awaitTask(stamp, place));
        } finally {
            alarm.cancel();
        }
    }

    private @Nullable Runnable counted(@Nullable Runnable task) {
        if (task != null) {
            takenByOthers.increment();
        }
        return task;
    }

    @Override
    public @Nullable Runnable peek() {
        return store.peek();
    }

    @Override
    public int size() {
        return store.size();
    }

    @Override
    public boolean isEmpty() {
        return store.size() == 0;
    }

    @Override
    public int remainingCapacity() {
        int capacity = store.capacity();
        return capacity == Integer.MAX_VALUE ? capacity : Math.max(0, capacity - store.size());
    }

    @Override
    public boolean contains(@Nullable Object wanted) {
        if (wanted == null) {
            return false;
        }
        Store.Pass pass = store.pass();
        for (Runnable task; (task = pass.next()) != null; ) {
            if (wanted.equals(task)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean remove(@Nullable Object unwanted) {
        if (unwanted == null) {
            return false;
        }
        Runnable removed = store.pass().removeNext(unwanted::equals);
        if (removed != null) {
            noteRemoved(1);
            Rejectable.reject(removed, REMOVED);
        }
        return removed != null;
    }

    private void noteRemoved(int tasks) {
        takenByOthers.add(tasks);
        callPutter();
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
        List<Runnable> removed = new ArrayList<>();
        try {
            Store.Pass pass = store.pass();
            for (Runnable task; (task = pass.removeNext(unwanted::test)) != null; ) {
                removed.add(task);
            }
        } finally {
            if (!removed.isEmpty()) {
                noteRemoved(removed.size());
                removed.forEach(task -> Rejectable.reject(task, REMOVED));
            }
        }
        return !removed.isEmpty();
    }

    @Override
    public void clear() {
        for (Runnable task : drainOut(moment -> {})) {
            takenByOthers.increment();
            Rejectable.reject(task, REMOVED);
        }
    }

    @Override
    public int drainTo(Collection<? super Runnable> target) {
        return drainTo(target, Integer.MAX_VALUE);
    }

    @Override
    public int drainTo(Collection<? super Runnable> target, int most) {
        if (Objects.requireNonNull(target) == this) {
            throw new IllegalArgumentException("a queue cannot be drained to itself");
        }
        int drained = 0;
        Store.Stamp stamp = new Store.Stamp();
        for (Runnable task; drained < most && (task = poll(stamp)) != null; drained++) {
            takenByOthers.increment();
            target.add(task);
        }
        return drained;
    }

    @Override
    public List<Runnable> drainOut(LongConsumer acceptedAt) {
        List<Runnable> tasks = new ArrayList<>();
        Store.Stamp stamp = new Store.Stamp();
        for (Runnable task; (task = poll(stamp)) != null; ) {
            tasks.add(task);
            acceptedAt.accept(stamp.nanoTime);
        }
        return tasks;
    }

    @Override
    public @Nullable Runnable discard() {
        return poll();
    }

    @Override
    public boolean handsOver() {
        return false;
    }

    @Override
    public void purge() {
        removeIf(Intake::isCancelled);
    }

    @Override
    public Object[] toArray() {
        return tasks().toArray();
    }

    @Override
    public <T> T[] toArray(T[] array) {
        return tasks().toArray(array);
    }

    private List<Runnable> tasks() {
        List<Runnable> tasks = new ArrayList<>();
        iterator().forEachRemaining(tasks::add);
        return tasks;
    }

    /** Returns a weakly consistent iterator; its {@code remove} takes the task out if it still lies where it was met. */
    @Override
    public Iterator<Runnable> iterator() {
        return new TaskIterator(store.pass());
    }

    private final class TaskIterator implements Iterator<Runnable> {
        private final Store.Pass pass;
        private @Nullable Runnable upcoming; // what next() will return, if that is known
        private @Nullable Runnable removable; // what next() has returned, until it is removed

        TaskIterator(Store.Pass pass) {
            this.pass = pass;
        }

        @Override
        public boolean hasNext() {
            if (upcoming == null) {
                upcoming = pass.next();
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
            pass.keep();
            removable = task;
            return task;
        }

        @Override
        public void remove() {
            Runnable task = removable;
            if (task == null) {
                throw new IllegalStateException("remove() takes what next() has returned, once");
            }
            removable = null;
            if (pass.removeKept()) {
                noteRemoved(1);
                Rejectable.reject(task, REMOVED);
            }
        }
    }

    @Override
    public String toString() {
        return tasks().toString();
    }
}
