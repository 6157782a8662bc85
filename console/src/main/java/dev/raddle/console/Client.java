package dev.raddle.console;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that looks at a view. It holds the latest snapshot only: a slow client receives fewer of them. */
final class Client {

    final View view;
    private final Thread thread; // that writes to the client
    private final ArrayBlockingQueue<Snapshot> latest = new ArrayBlockingQueue<>(1);
    private @Nullable Snapshot offered; // used by the sampler's thread only

    Client(View view, Thread thread) {
        this.view = view;
        this.thread = thread;
    }

    /** Replaces what the client has not taken. Called by the sampler's thread only. */
    void offer(Snapshot snapshot) {
        if (snapshot != offered) {
            offered = snapshot;
            latest.poll();
            latest.offer(snapshot);
        }
    }

    /** Waits for a snapshot, and returns null if there is none in time. */
    @Nullable
    Snapshot await(Duration time) throws InterruptedException {
        return latest.poll(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends the connection, also while a write waits for the client. */
    void drop() {
        thread.interrupt();
    }
}
