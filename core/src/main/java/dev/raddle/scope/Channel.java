package dev.raddle.scope;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A queue between producers and consumers that holds a bounded number of values and has an end.
 *
 * {@snippet :
 * try (ThreadScope scope = ThreadScope.open()) {
 *     Channel<Row> rows = scope.openChannel(100);
 *     scope.submit("read", () -> {
 *         try (rows) {
 *             while (source.hasNext()) {
 *                 rows.send(source.next());
 *             }
 *         }
 *         return null;
 *     });
 *     for (Row row : rows) {
 *         write(row);
 *     }
 * }
 * }
 *
 * <p>Values are received in the order in which they were sent. Memory consistency effects: actions before a value is sent
 * <i>happen-before</i> those that follow its receipt.
 *
 * @param <T> the type of the values
 */
public final class Channel<T> implements Iterable<T>, AutoCloseable {

    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition notEmpty = lock.newCondition();
    private final Condition notFull = lock.newCondition();
    private final ArrayDeque<T> values = new ArrayDeque<>(); // guarded by lock
    private boolean closed; // guarded by lock

    private Channel(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Creates a channel that belongs to nobody.
     *
     * @param <T> the type of the values
     * @param capacity how many values may have been sent and not received, at least 1
     * @return a new channel
     * @throws IllegalArgumentException if it is less than 1
     */
    public static <T> Channel<T> bounded(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity of a channel must be at least 1, was " + capacity);
        }
        return new Channel<>(capacity);
    }

    /**
     * Sends a value; waits while the channel is full.
     *
     * @param value not null
     * @throws ChannelClosedException if the channel is closed, before or while this waits; the value is not sent
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
                throw new ChannelClosedException("channel is closed; send before close()");
            }
            values.add(value);
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Receives a value; waits while there is none.
     *
     * @return the oldest value
     * @throws ChannelClosedException if the channel is closed and every value was received
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
            notFull.signal();
            return value;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the channel: nothing can be sent any more, what was sent can be received. Wakes all who wait. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            notEmpty.signalAll();
            notFull.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells whether the channel is closed.
     *
     * @return true once {@link #close()} was called; there may be values to receive
     */
    public boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns an iterator that receives values until the channel is closed and empty. If the calling thread is interrupted
     * before or while it receives one, {@code hasNext} and {@code next} throw a {@link CancellationException}, and the
     * interrupt status stays set.
     *
     * @return a new iterator, for one thread
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
            return "channel, " + values.size() + " of " + capacity + " values" + (closed ? ", closed" : "");
        } finally {
            lock.unlock();
        }
    }
}
