package dev.raddle.redis;

import dev.raddle.task.ExceptionSink;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Calls the listener, one call at a time, in a virtual thread that exists while there are calls. */
final class Notifier {

    private static final int MOST_WAITING = 1024;

    private final FleetListener listener;
    private final ExceptionSink sink;
    private final ConcurrentLinkedQueue<Consumer<FleetListener>> calls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger(); // the thread exists while this is positive

    Notifier(FleetListener listener, ExceptionSink sink) {
        this.listener = listener;
        this.sink = sink;
    }

    /** Calls the listener later. */
    void post(Consumer<FleetListener> call) {
        if (listener == FleetListener.NONE) {
            return;
        }
        calls.add(call);
        if (waiting.getAndIncrement() == 0) {
            Thread.ofVirtual().name("raddle-fleet-listener").start(this::run);
        }
    }

    /** Calls the listener later a number of times, less often if many calls are waiting. */
    void postFrequent(int times, Consumer<FleetListener> call) {
        if (waiting.get() >= MOST_WAITING) {
            return;
        }
        post(any -> {
            for (int i = 0; i < Math.min(times, MOST_WAITING); i++) {
                guarded(call);
            }
        });
    }

    private void run() {
        do {
            Consumer<FleetListener> call = calls.poll();
            if (call != null) {
                guarded(call);
            }
        } while (waiting.decrementAndGet() > 0);
    }

    private void guarded(Consumer<FleetListener> call) {
        try {
            call.accept(listener);
        } catch (Throwable failure) {
            sink.report("fleet listener", failure);
        }
    }
}
