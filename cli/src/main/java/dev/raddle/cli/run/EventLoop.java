package dev.raddle.cli.run;

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
 * Brings events from the threads of the tasks to the listeners, in one order and by one thread, so that listeners need no
 * locks and a slow terminal holds up no lock. When the listeners cannot keep up, whoever posts waits.
 */
public final class EventLoop implements AutoCloseable {
    private static final int CAPACITY = 1024;
    private static final Duration TICK = Duration.ofMillis(100);

    private final BlockingQueue<Item> queue = new ArrayBlockingQueue<>(CAPACITY);
    private final List<RunListener> listeners;
    private final BiConsumer<RunListener, Throwable> onFailure;
    private final Thread thread;

    private sealed interface Item {}

    private record News(RunEvent event) implements Item {}

    /** A mark in the queue: all that was posted before it has been heard when it is reached. */
    private record Mark(CountDownLatch reached, boolean last) implements Item {}

    /**
     * Starts a loop.
     *
     * @param onFailure is told, in the loop's thread, of a listener that fails; that listener hears nothing more
     */
    public EventLoop(List<? extends RunListener> listeners, BiConsumer<RunListener, Throwable> onFailure) {
        this.listeners = new ArrayList<>(listeners);
        this.onFailure = onFailure;
        this.thread = Thread.ofPlatform().name("raddle-events").daemon().unstarted(this::loop);
    }

    public EventLoop start() {
        thread.start();
        return this;
    }

    /** Hands an event over; waits while too many others are on their way. */
    public void post(RunEvent event) {
        put(new News(event));
    }

    /** Hands an event over without waiting: at once where there is room, otherwise as soon as there is. */
    public void postLater(RunEvent event) {
        if (!queue.offer(new News(event))) {
            Thread.ofVirtual().name("raddle-post").start(() -> post(event));
        }
    }

    private void put(Item item) {
        boolean interrupted = false;
        while (true) {
            try {
                queue.put(item);
                break;
            } catch (InterruptedException e) {
                interrupted = true; // an event must not be lost because its task is being cancelled
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
                case News news -> tell(listener -> listener.on(news.event));
                case Mark mark -> {
                    mark.reached.countDown();
                    open = !mark.last;
                }
            }
            if (System.nanoTime() - lastTick >= TICK.toNanos()) {
                lastTick = System.nanoTime();
                tell(RunListener::tick);
            }
        }
    }

    private @Nullable Item poll(long nanos) {
        try {
            return queue.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return null; // nobody interrupts this thread, and it ends by close() alone
        }
    }

    private interface Call {
        void on(RunListener listener) throws IOException;
    }

    private void tell(Call call) {
        for (RunListener listener : List.copyOf(listeners)) {
            try {
                call.on(listener);
            } catch (IOException | RuntimeException | Error e) {
                listeners.remove(listener);
                onFailure.accept(listener, e);
            }
        }
    }

    /** Waits until the listeners have heard every event that was posted before. */
    public void flush() {
        await(new Mark(new CountDownLatch(1), false));
    }

    /** Waits until the listeners have heard every event that was posted before, and ends the thread. */
    @Override
    public void close() {
        await(new Mark(new CountDownLatch(1), true));
    }

    private void await(Mark mark) {
        put(mark);
        boolean interrupted = false;
        while (true) {
            try {
                mark.reached.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
