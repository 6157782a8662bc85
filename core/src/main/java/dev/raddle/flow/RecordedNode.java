package dev.raddle.flow;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a {@link RecordedRun}: what is recorded of it, and what follows from the other records.
 *
 * @param id the id of the node; of one in a subflow, the ids of both with a slash between them
 * @param state its state. WAITING means that it sleeps or waits for its signal; RUNNING that it has been triggered, so
 *     that it runs, or will when the run continues. Without a plan a node without a recorded end is WAITING if it
 *     sleeps, RUNNING if the try has other records of it, and else PENDING
 * @param isRecorded whether its end is recorded; one that is not follows from the end of another node or of the run
 * @param value its value, may be null; null also for a default that a function computes
 * @param via the source of the value
 * @param attempts the number of attempts that have ended; 0 if its end follows from others
 * @param failure the exception with which it ended, or from which its fallback has recovered; if neither is known, that
 *     of its latest attempt; null if there is none
 * @param endedAt the moment of the recorded end; null if there is none, or it has no moment
 * @param sleepsUntil the moment at which its sleep ends; null if it does not sleep
 * @param dueTo the ids of the upstreams for which a pending node waits, in the order of their declaration; of an end
 *     that follows, that of the node from whose end it follows. Empty without a plan
 * @param isCompensated true if its compensation has succeeded
 */
public record RecordedNode(
        String id,
        NodeState state,
        boolean isRecorded,
        @Nullable Object value,
        ValueSource via,
        int attempts,
        @Nullable RecordedFailure failure,
        @Nullable Instant endedAt,
        @Nullable Instant sleepsUntil,
        List<String> dueTo,
        boolean isCompensated) {

    /** Copies the list. */
    public RecordedNode {
        dueTo = List.copyOf(dueTo);
    }
}
