package dev.raddle.flow;

import dev.raddle.flow.NodeWaits.NodeWait;
import dev.raddle.flow.threads.NodePhase;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The signals of a run and of the runs nested in it, by the paths of their nodes. */
final class Signals {

    /*
     * Overview.
     *
     * A delivery claims the box of the signal, against other deliveries and the timeout of the node. In a run with a
     * journal it then claims the node, if that waits: it changes the slot from the NodeWait to Recording, against a
     * skip and the end of the run, which leave that phase alone. Then the value is recorded, and the node takes it. So
     * a delivery that does not win is not recorded, with one exception: if the node begins to wait while the value is
     * being recorded, or has not been reached when it is ended, the record remains, and the next try of the run has the
     * signal.
     *
     * If the record fails, the slot becomes the NodeWait again. What has left the node alone meanwhile is repeated by
     * the delivering thread: a timeout is kept in the box, a skip is marked in NodeWaits, and the end of the run is set
     * in NodeTransitions. Each of these writes first and then reads the slot; the delivering thread writes the slot and
     * then reads them.
     */

    private final ConcurrentHashMap<String, SignalBox> boxes = new ConcurrentHashMap<>();
    private final RunEnvironment run; // the outermost
    private final NodeStates states; // likewise
    private final @Nullable RunJournal journal;

    /** Keeps the signals that earlier processes have received. */
    Signals(RunEnvironment run, NodeStates states, @Nullable RunJournal journal) {
        this.run = run;
        this.states = states;
        this.journal = journal;
        if (journal != null) {
            journal.recovered.signals.forEach((path, received) -> box(path).fill(received.value()));
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
        NodePhase.Recording claimed = null;
        if (journal != null) {
            NodeWait waiting = box.waiting();
            claimed = waiting == null ? null : waiting.tryClaim();
            if (waiting != null && claimed == null) {
                box.close();
                return false;
            }
            record(box, claimed, journal, path, value);
        }
        NodeWait taker = box.fill(value);
        boolean hasEffect = taker == null
                ? !states.hasEnded(path) || box.isTaken()
                : taker.end(claimed == null ? taker : claimed, box.slotValue());
        return hasEffect || (journal != null && run.isLost()); // the next process finds the record
    }

    private static void record(
            SignalBox box,
            NodePhase.@Nullable Recording claimed,
            RunJournal journal,
            String path,
            @Nullable Object value) {
        try {
            journal.record(new Entry.SignalReceived(path, value));
        } catch (FencedException lost) {
            unclaim(box, claimed);
            throw lost;
        } catch (Throwable failure) {
            unclaim(box, claimed);
            throw new IllegalStateException("signal \"" + path + "\" could not be recorded in the journal", failure);
        }
    }

    private static void unclaim(SignalBox box, NodePhase.@Nullable Recording claimed) {
        if (claimed != null) {
            ((NodeWait) Objects.requireNonNull(claimed.before())).unclaim(claimed);
        }
        Runnable timeout = box.unclaim();
        if (timeout != null) {
            timeout.run();
        }
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
