package dev.raddle.scope;

import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue between producers and consumers that can be closed, normally or with a failure.
 *
 * {@snippet :
 * try (ThreadScope scope = ThreadScope.open()) {
 *     Channel<Row> rows = scope.openChannel(100);
 *     rows.closeAfter(scope.submit("read", () -> {
 *         while (source.hasNext()) {
 *             rows.send(source.next());
 *         }
 *         return null;
 *     }));
 *     for (Row row : rows) { // throws when "read" has failed
 *         write(row);
 *     }
 * }
 * }
 *
 * <p>If a producer calls only {@link #close()} in its {@code finally} block, or uses the channel as a resource of its
 * {@code try} statement, its consumers see a normal end even if the producer throws. With {@link #closeAfter} or
 * {@link #close(Throwable)} they see the failure.
 *
 * <p>Values are received in the order in which they were sent. Memory consistency effects: actions before a value is
 * sent <i>happen-before</i> those that follow its receipt.
 *
 * @param <T> the type of the values
 */
public final class Channel<T> implements Iterable<T>, AutoCloseable {

    /** The references of producers to channels that have become unreachable. */
    private static final ReferenceQueue<Channel<?>> UNREACHABLE = new ReferenceQueue<>();

    /**
     * The reference of a producer to a channel that it closes. It does not retain the channel, and is removed from the
     * producer when the channel is unreachable: a producer may live longer than any number of channels.
     */
    private static final class Closing extends WeakReference<Channel<?>> {
        private final AtomicInteger open; // producers
        private @Nullable Runnable removal; // written while the channel is reachable

        Closing(Channel<?> channel, AtomicInteger open) {
            super(channel, UNREACHABLE);
            this.open = open;
        }

        void add(ScopeRun<?> producer) {
            removal = producer.whenSettled(() -> producerEnded(producer.settledOutcome()));
        }

        private void producerEnded(Outcome<?> outcome) {
            Channel<?> channel = get();
            if (channel != null) {
                channel.producerEnded(outcome, open);
            }
        }

        static void removeUnreachable() {
            for (Reference<?> each; (each = UNREACHABLE.poll()) != null; ) {
                Objects.requireNonNull(((Closing) each).removal).run();
            }
        }
    }

    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private final ArrayDeque<T> values = new ArrayDeque<>(); // guarded by lock
    private boolean closed; // guarded by lock
    private @Nullable Throwable failure; // null if open or closed normally; guarded by lock

    private Channel(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Creates a channel that belongs to no scope.
     *
     * @param <T> the type of the values
     * @param capacity the maximum number of values that were sent and not yet received, at least 1
     * @return a new channel
     * @throws IllegalArgumentException if the capacity is less than 1
     */
    public static <T> Channel<T> bounded(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity of a channel must be at least 1, was " + capacity);
        }
        return new Channel<>(capacity);
    }

    /**
     * Sends a value. Waits while the channel is full.
     *
     * @param value the value, not null
     * @throws ChannelClosedException if the channel is closed, before or while this waits; the value is not sent; the
     *     cause is the failure that closed it, if there is one
     * @throws InterruptedException if the calling thread is interrupted; the value is not sent
     */
    public void send(T value) throws InterruptedException {
        Objects.requireNonNull(value, "value");
        lock.lockInterruptibly();
        try {
            while (!closed && values.size() == capacity) {
                notFull.await();
            }
            if (closed) {
                throw new ChannelClosedException(
                        failure == null ? "channel is closed; send before close()" : "channel has failed: " + failure,
                        failure);
            }
            values.add(value);
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Receives a value. Waits while the channel is open and empty.
     *
     * @return the oldest value
     * @throws ChannelClosedException if the channel is closed and every value was received; the cause is the failure
     *     that closed it, if there is one
     * @throws InterruptedException if the calling thread is interrupted; nothing is received
     */
    public T receive() throws InterruptedException {
        T value = receiveOrNull();
        if (value == null) {
            throw new ChannelClosedException("channel is closed, and every value was received");
        }
        return value;
    }

    private @Nullable T receiveOrNull() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed && values.isEmpty()) {
                notEmpty.await();
            }
            T value = values.poll();
            if (value == null && failure != null) {
                throw new ChannelClosedException("channel has failed: " + failure, failure);
            }
            notFull.signal();
            return value;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the channel normally: no further values can be sent, and values that were sent can still be received.
     * Wakes all waiting threads. Has no effect if the channel is closed.
     */
    @Override
    public void close() {
        close(null, false);
    }

    /**
     * Closes the channel with a failure, because its values are incomplete. No further values can be sent. Values that
     * were sent can still be received; after them {@link #receive} and iterators throw {@link ChannelClosedException}
     * with this cause. Wakes all waiting threads. The first failure is kept. A failure after a normal {@link #close()}
     * is still seen by consumers that have not reached the end.
     *
     * @param cause the failure
     */
    public void close(Throwable cause) {
        close(Objects.requireNonNull(cause, "cause"), false);
    }

    /** Closes the channel with a failure unless it is closed, because its scope has ended. */
    void failIfOpen(Throwable cause) {
        close(cause, true);
    }

    private void close(@Nullable Throwable cause, boolean onlyIfOpen) {
        lock.lock();
        try {
            if (failure == null && !(closed && onlyIfOpen)) {
                failure = cause;
            }
            closed = true;
            notEmpty.signalAll();
            notFull.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the channel when its producers have ended: normally when all of them have succeeded, or as
     * {@link #close(Throwable)} does when the first of them fails or is cancelled. This includes a task that never
     * begins because it is rejected, cancelled or out of time.
     *
     * {@snippet :
     * Channel<Row> rows = scope.openChannel(100);
     * rows.closeAfter(scope.submit("a", () -> read(a, rows)), scope.submit("b", () -> read(b, rows)));
     * }
     *
     * @param producers the tasks that send values; the channel is closed at once if there are none
     * @return this channel
     */
    public Channel<T> closeAfter(Task<?>... producers) {
        List<Task<?>> all = List.of(producers);
        Closing.removeUnreachable();
        AtomicInteger open = new AtomicInteger(all.size());
        if (all.isEmpty()) {
            close();
        }
        for (Task<?> producer : all) {
            if (producer instanceof ScopeRun<?> run) {
                new Closing(this, open).add(run);
            } else {
                throw new IllegalArgumentException("a producer is a task of a ThreadScope, was " + producer);
            }
        }
        return this;
    }

    private void producerEnded(Outcome<?> outcome, AtomicInteger open) {
        switch (outcome) {
            case Outcome.Failure<?> failed -> close(failed.error());
            case Outcome.Cancelled<?> cancelled -> close(cancelled.cause());
            default -> {
                if (open.decrementAndGet() == 0) {
                    close();
                }
            }
        }
    }

    /** {@return whether the channel is closed, normally or with a failure; there may still be values to receive} */
    public boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns an iterator that receives values until the channel is closed and empty. If the channel was closed with a
     * failure, {@code hasNext} and {@code next} then throw {@link ChannelClosedException}. If the calling thread is
     * interrupted before or while it receives a value, they throw a {@link CancellationException}, and the interrupt
     * status stays set.
     *
     * @return a new iterator, for use by one thread
     */
    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private @Nullable T next;

            @Override
            public boolean hasNext() {
                if (next == null) {
                    next = nextOrNull();
                }
                return next != null;
            }

            @Override
            public T next() {
                T value = next == null ? nextOrNull() : next;
                if (value == null) {
                    throw new NoSuchElementException("channel is closed, and every value was received");
                }
                next = null;
                return value;
            }
        };
    }

    private @Nullable T nextOrNull() {
        try {
            return receiveOrNull();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            CancellationException cancelled = new CancellationException("interrupted while receiving from a channel");
            cancelled.initCause(interrupt);
            throw cancelled;
        }
    }

    @Override
    public String toString() {
        lock.lock();
        try {
            return "channel, " + values.size() + " of " + capacity + " values"
                    + (failure != null ? ", failed" : closed ? ", closed" : "");
        } finally {
            lock.unlock();
        }
    }
}
