package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Secrets;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Delivers events from the threads of the tasks to the listeners, in one order and by one thread, so that listeners
 * need no locks and a slow terminal delays no lock. When the listeners cannot keep up, posting threads wait.
 */
public final class EventLoop implements AutoCloseable {
    private static final int CAPACITY = 1024;
    private static final RunListener NONE = event -> {}; // in the place of one, if an action fails
    private static final Duration TICK = Duration.ofMillis(100);

    private final BlockingQueue<Item> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final List<RunListener> listeners;
    private final BiConsumer<RunListener, Throwable> onFailure;
    private final Thread thread;
    private Secrets secrets = Secrets.NONE; // set before the thread starts

    private sealed interface Item {}

    private record PostedEvent(RunEvent event) implements Item {}

    /** An action on the listeners that runs in their thread, after the events before it. */
    private record Action(Runnable action) implements Item {}

    /** A marker in the queue: when it is reached, every event posted before it has been delivered. */
    private record Marker(CountDownLatch reached, boolean last) implements Item {}

    /**
     * Creates a loop.
     *
     * @param onFailure the action to run, in the loop's thread, when a listener fails, which is not called again, or
     *     an action of {@link #runLater}
     */
    public EventLoop(List<? extends RunListener> listeners, BiConsumer<RunListener, Throwable> onFailure) {
        this.listeners = new ArrayList<>(listeners);
        this.onFailure = onFailure;
        this.thread = Thread.ofPlatform().name("raddle-events").daemon().unstarted(this::loop);
    }

    /** Hides secrets from the listeners. */
    EventLoop hiding(Secrets values) {
        secrets = values;
        return this;
    }

    public EventLoop start() {
        thread.start();
        return this;
    }

    /** Posts an event; waits while the queue is full. */
    public void post(RunEvent event) {
        put(new PostedEvent(event));
    }

    /** Posts an event without waiting: at once if there is space, otherwise as soon as there is. */
    public void postLater(RunEvent event) {
        putLater(new PostedEvent(event));
    }

    /** Runs an action in the thread of the listeners, after the events before it. Does not wait. */
    void runLater(Runnable action) {
        putLater(new Action(action));
    }

    private void putLater(Item item) {
        if (!queue.offer(item)) {
            Thread.ofVirtual().name("raddle-post").start(() -> put(item));
        }
    }

    private void put(Item item) {
        uninterruptibly(() -> queue.put(item)); // an event must not be lost because its task is being cancelled
    }

    private interface Wait {
        void run() throws InterruptedException;
    }

    private static void uninterruptibly(Wait wait) {
        boolean interrupted = false;
        while (true) {
            try {
                wait.run();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void loop() {
        long lastTick = System.nanoTime();
        boolean open = true;
        while (open) {
            switch (poll(TICK.toNanos() - (System.nanoTime() - lastTick))) {
                case null -> {}
                case PostedEvent posted -> {
                    RunEvent event = posted.event.masked(secrets);
                    notifyListeners(listener -> listener.on(event));
                }
                case Action later -> run(later.action);
                case Marker marker -> {
                    marker.reached.countDown();
                    open = !marker.last;
                }
            }
            if (System.nanoTime() - lastTick >= TICK.toNanos()) {
                lastTick = System.nanoTime();
                notifyListeners(RunListener::tick);
            }
        }
    }

    private @Nullable Item poll(long nanos) {
        try {
            return queue.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return null; // no thread interrupts this one; it ends by close() alone
        }
    }

    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            onFailure.accept(NONE, e);
        }
    }

    private interface Notification {
        void on(RunListener listener) throws IOException;
    }

    private void notifyListeners(Notification notification) {
        for (RunListener listener : List.copyOf(listeners)) {
            try {
                notification.on(listener);
            } catch (IOException | RuntimeException | Error e) {
                listeners.remove(listener);
                onFailure.accept(listener, e);
            }
        }
    }

    /** Waits until all events posted before have been delivered. */
    public void flush() {
        await(new Marker(new CountDownLatch(1), false));
    }

    /** Waits until all events posted before have been delivered, and ends the thread. */
    @Override
    public void close() {
        await(new Marker(new CountDownLatch(1), true));
    }

    private void await(Marker marker) {
        put(marker);
        uninterruptibly(marker.reached::await);
    }
}
