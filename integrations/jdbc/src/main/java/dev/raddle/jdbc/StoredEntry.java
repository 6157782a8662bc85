package dev.raddle.jdbc;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.RecordedFailure;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the journal of a run, without its value. Which components an entry has depends on its kind, which is one
 * of these; later versions may have more:
 *
 * <table>
 * <caption>Kinds of entries</caption>
 * <tr><th>kind</th><th>see</th><th>components</th></tr>
 * <tr><td>BEGUN</td><td>{@link dev.raddle.flow.Entry.Begun}</td><td>at, nodes</td></tr>
 * <tr><td>NODE</td><td>{@link dev.raddle.flow.Entry.NodeEnded}</td><td>node, state, via, count, at, failure</td></tr>
 * <tr><td>ATTEMPT_BEGAN</td><td>{@link dev.raddle.flow.Entry.AttemptBegan}</td><td>node, count</td></tr>
 * <tr><td>ATTEMPT</td><td>{@link dev.raddle.flow.Entry.AttemptFailed}</td><td>node, count, failure</td></tr>
 * <tr><td>DEADLINE</td><td>{@link dev.raddle.flow.Entry.DeadlineSet}</td><td>node, at</td></tr>
 * <tr><td>SLEEP</td><td>{@link dev.raddle.flow.Entry.SleepUntil}</td><td>node, at</td></tr>
 * <tr><td>SIGNAL</td><td>{@link dev.raddle.flow.Entry.SignalReceived}</td><td>node</td></tr>
 * <tr><td>ELEMENT</td><td>{@link dev.raddle.flow.Entry.ElementEnded}</td><td>node, count</td></tr>
 * <tr><td>MAP</td><td>{@link dev.raddle.flow.Entry.MapEnded}</td><td>node, count, at</td></tr>
 * <tr><td>COMPENSATING</td><td>{@link dev.raddle.flow.Entry.Compensating}</td><td>state, at, failure</td></tr>
 * <tr><td>UNDO_FAILED</td><td>{@link dev.raddle.flow.Entry.CompensationAttemptFailed}</td><td>node, count, state,
 * failure</td></tr>
 * <tr><td>COMPENSATED</td><td>{@link dev.raddle.flow.Entry.Compensated}</td><td>node</td></tr>
 * <tr><td>ENDED</td><td>{@link dev.raddle.flow.Entry.RunEnded}</td><td>state</td></tr>
 * </table>
 *
 * @param claim the claim that recorded the entry, 1 for the first
 * @param number the position among the entries of the claim
 * @param kind the kind
 * @param node the id of the node; null if the entry is about the run
 * @param state the state of the node or the status of the run; LAST for the last of the failed attempts
 * @param via the source of the value of a node
 * @param count the number of the attempt, the index of the element, or the number of elements
 * @param at the moment that was recorded; null for the other kinds, since the time of the record is not kept
 * @param failure the exception
 * @param nodes the nodes that run again
 * @param place the place of an end in the sequence of ends of its try; null for other entries
 */
public record StoredEntry(
        long claim,
        int number,
        String kind,
        @Nullable String node,
        @Nullable String state,
        @Nullable String via,
        @Nullable Integer count,
        @Nullable Instant at,
        @Nullable RecordedFailure failure,
        List<String> nodes,
        @Nullable Long place) {

    private static final Values NO_VALUES = new Values(FlowCodec.bytes());

    /** Copies the nodes. */
    public StoredEntry {
        nodes = List.copyOf(nodes);
    }

    /**
     * Returns the entry, for {@link dev.raddle.flow.RecordedRun}. Its value is null, because no codec is needed.
     *
     * @return the entry; empty if its kind or a component of it is of a later version
     */
    public Optional<Entry> entry() {
        EntryRow.Kind known = known();
        if (known == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new EntryRow("", claim, number, known, node, state, via, count, at, null, failure, nodes, place)
                            .entry(NO_VALUES));
        } catch (IOException ofLaterVersion) {
            return Optional.empty();
        }
    }

    private EntryRow.@Nullable Kind known() {
        for (EntryRow.Kind each : EntryRow.Kind.values()) {
            if (each.name().equals(kind)) {
                return each;
            }
        }
        return null;
    }

    /**
     * Returns when the entry was recorded.
     *
     * @return {@link #at()} if it says that; null if it says something else, or is null
     */
    public @Nullable Instant recordedAt() {
        EntryRow.Kind known = known();
        boolean isOfRecord = known != null
                && switch (known) {
                    case WORK, BEGUN, NODE, MAP, COMPENSATING -> true;
                    case ATTEMPT_BEGAN, ATTEMPT, DEADLINE, SLEEP, SIGNAL, ELEMENT, UNDO_FAILED, COMPENSATED, ENDED ->
                        false;
                };
        return isOfRecord ? at : null;
    }

    /**
     * Returns what this entry says, for people, without its node and its failure.
     *
     * @return a part of a sentence, such as {@code attempt 2 has failed}; it may have texts of other processes
     */
    public String words() {
        EntryRow.Kind known = known();
        if (known == null) {
            return kind;
        }
        return switch (known) {
            case WORK -> kind;
            case BEGUN -> "begins at " + seconds(at) + (nodes.isEmpty() ? "" : ", again: " + String.join(", ", nodes));
            case NODE -> state + source();
            case ATTEMPT_BEGAN -> "attempt " + count + " begins";
            case ATTEMPT -> "attempt " + count + " has failed" + last();
            case UNDO_FAILED -> "attempt " + count + " to compensate has failed" + last();
            case DEADLINE -> "times out at " + seconds(at);
            case SLEEP -> "sleeps until " + seconds(at);
            case SIGNAL -> "signal received";
            case ELEMENT -> "element " + count + " done";
            case MAP -> "all " + count + " elements done";
            case COMPENSATING -> "compensates, then ends as " + state;
            case COMPENSATED -> "compensated";
            case ENDED -> "ends as " + state;
        };
    }

    private String last() {
        return state == null ? "" : ", the last one";
    }

    private String source() {
        return (count == null || count == 0 ? "" : ", attempt " + count)
                + ("FALLBACK".equals(via) ? ", by the fallback" : "");
    }

    private static String seconds(@Nullable Instant at) {
        return at == null ? "" : at.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /**
     * Returns whether the node may be one of a subflow, of which sleeps and signals are recorded, and no ends.
     *
     * @return whether the run itself may have no such node
     */
    public boolean isOfSubflow() {
        return node != null && node.indexOf('/') >= 0 && (kind.equals("SLEEP") || kind.equals("SIGNAL"));
    }
}
