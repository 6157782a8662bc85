package dev.raddle.flow;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The signals of a run and of the runs nested in it, by the paths of their nodes. */
final class Signals {

    private final ConcurrentHashMap<String, SignalBox> boxes = new ConcurrentHashMap<>();
    private final @Nullable RunJournal journal; // of the outermost run, or null

    /** Keeps the signals that earlier processes have received. */
    Signals(@Nullable RunJournal journal) {
        this.journal = journal;
        if (journal != null) {
            journal.recovered().signals().forEach((path, received) -> box(path).fill(received.value()));
        }
    }

    SignalBox box(String path) {
        return boxes.computeIfAbsent(path, _ -> new SignalBox());
    }

    /**
     * Delivers a value of the right class to a node that has not ended. Returns whether this is the delivery that has
     * an effect. A journal receives the value before it has one.
     *
     * @throws FencedException if the run belongs to another process
     * @throws IllegalStateException if the journal cannot record the value; nothing was delivered
     */
    boolean deliver(String path, @Nullable Object value) {
        SignalBox box = box(path);
        if (!box.tryClaim()) {
            return false;
        }
        if (journal != null) {
            record(box, journal, path, value);
        }
        NodeWait waiting = box.fill(value);
        return waiting == null || waiting.end(box.slotValue());
    }

    private static void record(SignalBox box, RunJournal journal, String path, @Nullable Object value) {
        try {
            journal.record(new Entry.SignalReceived(path, value));
        } catch (FencedException lost) {
            box.unclaim();
            throw lost;
        } catch (Throwable failure) {
            box.unclaim();
            throw new IllegalStateException("signal \"" + path + "\" could not be recorded in the journal", failure);
        }
    }

    /** Returns the values that were delivered and not taken, by the paths of their nodes, in this order. */
    Map<String, SignalBox> kept() {
        Map<String, SignalBox> kept = new TreeMap<>();
        boxes.forEach((path, box) -> {
            if (box.isFull()) {
                kept.put(path, box);
            }
        });
        return kept;
    }

    /** Ensures that a value may be delivered to a node. */
    static void ensureType(String path, Class<?> type, @Nullable Object value) {
        boolean fits = value == null ? type == Void.class : type.isInstance(value);
        if (!fits) {
            throw new IllegalArgumentException(
                    "signal \"" + path + "\" takes a " + type.getName() + ", and the value was "
                            + (value == null ? "null" : "a " + value.getClass().getName()));
        }
    }
}
