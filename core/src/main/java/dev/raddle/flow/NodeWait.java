package dev.raddle.flow;

import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Withdrawable;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import org.jspecify.annotations.Nullable;

/** In the slot of a node it means that the node waits for a moment or a signal, without a thread. */
final class NodeWait implements Withdrawable {

    private final NodeWaits waits;
    final int node;
    final @Nullable Deadline until; // null for a signal
    private volatile @Nullable Alarm alarm; // null until it is armed

    NodeWait(NodeWaits waits, int node, @Nullable Deadline until) {
        this.waits = waits;
        this.node = node;
        this.until = until;
    }

    @Override
    public boolean isWaiting() {
        return true;
    }

    /** Sets the alarm. The thread that ends the node sees it, or the caller sees the end. */
    void setAlarm(Alarm armed) {
        alarm = armed;
    }

    @Nullable
    Alarm alarm() {
        return alarm;
    }

    @Override
    public void withdraw() {
        Alarm armed = alarm;
        if (armed != null) {
            armed.cancel();
        }
    }

    /** Claims the node for a signal that is about to be recorded. Returns null if it has ended. */
    NodePhase.@Nullable Recording tryClaim() {
        return waits.tryClaim(this);
    }

    /** Lets the node wait again, because the signal could not be recorded. */
    void unclaim(NodePhase.Recording claimed) {
        waits.unclaim(this, claimed);
    }

    /**
     * Ends the node with a value, unless it has ended. Returns whether it has succeeded by this.
     *
     * @param expected the content of the node's slot
     */
    boolean end(NodePhase expected, Object value) {
        return waits.end(this, expected, value);
    }
}
