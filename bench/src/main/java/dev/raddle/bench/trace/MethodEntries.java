package dev.raddle.bench.trace;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The log of method entries. The bootstrap class loader loads this class, because the classes of the JDK call it; so
 * it may use only {@code java.base}, and only classes that are not traced. Its users in this package are loaded by
 * another loader, for which only public methods are accessible.
 */
public final class MethodEntries {

    // An atomic array would call method handles, which call traced classes when they are linked.
    private static final long[] LOG = new long[1 << 20]; // thread id << 32 | number of the method; see WRITTEN
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final AtomicInteger WRITTEN = new AtomicInteger(); // publishes the entries that were written before
    private static volatile boolean recording;

    private MethodEntries() {}

    /**
     * Records that the current thread enters a method. Called by the traced methods.
     *
     * @param method the number of the method
     */
    public static void enter(int method) {
        if (recording) {
            int index = COUNT.getAndIncrement();
            if (index < LOG.length) {
                LOG[index] = Thread.currentThread().threadId() << 32 | method;
            }
            WRITTEN.getAndIncrement();
        }
    }

    /** Empties the log and starts to record. */
    public static void start() {
        COUNT.set(0);
        WRITTEN.set(0);
        recording = true;
    }

    /**
     * Returns the number of entries since the start.
     *
     * @return the number of entries
     */
    public static int count() {
        return WRITTEN.get();
    }

    /**
     * Stops recording.
     *
     * @return the entries since the start, each as {@code thread id << 32 | number of the method}
     * @throws IllegalStateException if there are more than the log can hold
     */
    public static long[] stop() {
        recording = false;
        int count = WRITTEN.get();
        if (count > LOG.length) {
            throw new IllegalStateException(count + " method entries, at most " + LOG.length + " can be recorded");
        }
        return Arrays.copyOf(LOG, count);
    }
}
