package dev.raddle.console;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that looks at a view. It holds the latest snapshot only: a slow client receives fewer of them. */
final class Client {

    /** What follows the last snapshot. */
    static final Snapshot END = new Snapshot(Json.object(Map.of()), null);

    final View view;
    private final ArrayBlockingQueue<Snapshot> latest = new ArrayBlockingQueue<>(2); // one snapshot, and END
    private @Nullable Snapshot offered; // used by the sampler's thread only

    Client(View view) {
        this.view = view;
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

    /** Lets {@link #END} follow what the client has not taken. Called once, after the last offer. */
    void end() {
        latest.add(END);
    }
}
