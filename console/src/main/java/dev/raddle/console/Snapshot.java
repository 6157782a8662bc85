package dev.raddle.console;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The state of a view at one moment, as it is sent. Clients that follow share the bytes. */
final class Snapshot {

    private static final byte[] NOTHING = {};

    private final ObjectNode state;
    private final @Nullable ObjectNode before; // of the view's previous snapshot
    private byte @Nullable [] whole; // guarded by this
    private byte @Nullable [] sinceBefore; // guarded by this

    Snapshot(ObjectNode state, @Nullable Snapshot previous) {
        this.state = state;
        this.before = previous == null ? null : previous.state;
    }

    /**
     * Returns an event for a client.
     *
     * @param sent the snapshot that the client has, or null
     * @return the whole state, or a patch; empty if nothing but the time has changed
     */
    synchronized byte[] eventSince(@Nullable Snapshot sent) {
        if (sent == null) {
            whole = whole == null ? Json.event("state", state) : whole;
            return whole;
        }
        if (sent.state != before) {
            return patch(sent.state);
        }
        sinceBefore = sinceBefore == null ? patch(sent.state) : sinceBefore;
        return sinceBefore;
    }

    private byte[] patch(ObjectNode from) {
        ObjectNode patch = MergePatch.between(from, state);
        boolean isOnlyTime = patch.isEmpty() || (patch.size() == 1 && patch.has("at"));
        return isOnlyTime ? NOTHING : Json.event("patch", patch);
    }
}
