package dev.raddle.jdbc;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.ValueSource;
import java.io.IOException;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table of entries. The meaning of the columns depends on the kind.
 *
 * @param runId the id of the run
 * @param epoch the epoch of the claim that wrote the row
 * @param number the position among the rows of the epoch
 * @param kind the kind of entry
 * @param node the id of the node; for the work its digest
 * @param state a state or status
 * @param via the source of a value
 * @param count an attempt, an index or a size
 * @param at a moment
 * @param value an encoded value, null for null
 * @param failure an exception
 * @param nodes ids of nodes
 * @param place the place of an end in the sequence of ends; null for other entries, and in rows of earlier versions
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record EntryRow(
        String runId,
        long epoch,
        int number,
        Kind kind,
        @Nullable String node,
        @Nullable String state,
        @Nullable String via,
        @Nullable Integer count,
        @Nullable Instant at,
        byte @Nullable [] value,
        @Nullable RecordedFailure failure,
        List<String> nodes,
        @Nullable Long place) {

    /** The kind of an entry. The first one is the plan that the run is bound to; the others are those of the core. */
    enum Kind {
        WORK,
        BEGUN,
        NODE,
        ATTEMPT_BEGAN,
        ATTEMPT,
        DEADLINE,
        SLEEP,
        SIGNAL,
        ELEMENT,
        MAP,
        COMPENSATING,
        UNDO_FAILED,
        COMPENSATED,
        ENDED;

        /** Returns whether something has ended with an entry of this kind. */
        boolean isProgress() {
            return switch (this) {
                case WORK, BEGUN, ATTEMPT_BEGAN, DEADLINE, SLEEP -> false;
                case NODE, ATTEMPT, SIGNAL, ELEMENT, MAP, COMPENSATING, UNDO_FAILED, COMPENSATED, ENDED -> true;
            };
        }
    }

    /** The condition {@link #isProgress} of a row p, for a statement. */
    static final String IS_PROGRESS = "(p.kind NOT IN ("
            + Arrays.stream(Kind.values())
                    .filter(kind -> !kind.isProgress())
                    .map(kind -> "'" + kind + "'")
                    .collect(Collectors.joining(", "))
            + ") AND (p.kind <> '" + Kind.ATTEMPT + "' OR p.failure_type IS DISTINCT FROM '" + RecordedFailure.LOST
            + "'))";

    /**
     * Returns whether the run has advanced with this row: something has ended. An attempt that has failed because its
     * worker was lost is no progress, or a node with many attempts could kill as many workers. An end of the node that
     * follows from it, such as a value of its fallback, is progress.
     */
    boolean isProgress() {
        boolean isOfLoss =
                kind == Kind.ATTEMPT && failure != null && failure.type().equals(RecordedFailure.LOST);
        return kind.isProgress() && !isOfLoss;
    }

    /** The columns of a row that depend on its kind. */
    static final String COLUMNS =
            "kind, node, state, via, count, at, value, failure_type, failure_message," + " failure_trace, nodes, place";

    private static final String LAST = "LAST";

    /** The limits of moments that are waited for: a day inside the years of four digits, for all time zones. */
    private static final Instant FIRST = Instant.parse("0001-01-02T00:00:00Z");

    static final Instant FARTHEST = Instant.parse("9999-12-30T00:00:00Z");

    /** Returns the rough number of bytes of this row. */
    int size() {
        return 200
                + (value == null ? 0 : value.length)
                + (failure == null ? 0 : failure.trace().length());
    }

    /** Makes the rows of one claim. */
    record Maker(String runId, long epoch, Values values) {

        EntryRow work(int number, String digest) {
            return new Draft(Kind.WORK, digest).row(this, number);
        }

        /** Returns the row of an entry. Throws if its value cannot be encoded or is too long, or its id be stored. */
        EntryRow row(int number, Entry entry) throws IOException {
            EntryRow row = draft(entry).row(this, number);
            String id = row.node();
            String stored = JournalWriter.storable(id);
            if (id != null && !id.equals(stored)) {
                throw new IOException(
                        "the id of node \"" + stored + "\" has a character that PostgreSQL cannot store, a"
                                + " zero or half of a surrogate pair; give the node another id");
            }
            return row;
        }

        private Draft draft(Entry entry) throws IOException {
            return switch (entry) {
                case Entry.Begun begun -> {
                    Draft draft = new Draft(Kind.BEGUN, null).at(begun.at());
                    draft.nodes = List.copyOf(begun.again());
                    yield draft;
                }
                case Entry.NodeEnded end -> {
                    Draft draft = new Draft(Kind.NODE, end.id())
                            .state(end.state())
                            .count(end.attempt())
                            .value(values.encodeOf(end.id(), end.value()))
                            .failure(end.failure())
                            .ended(end.at(), end.number());
                    draft.via = end.via().name();
                    yield draft;
                }
                case Entry.AttemptBegan attempt -> new Draft(Kind.ATTEMPT_BEGAN, attempt.id()).count(attempt.attempt());
                case Entry.AttemptFailed failed ->
                    new Draft(Kind.ATTEMPT, failed.id()).failed(failed.attempt(), failed.failure(), failed.isLast());
                case Entry.DeadlineSet limit -> new Draft(Kind.DEADLINE, limit.id()).at(bounded(limit.until()));
                case Entry.SleepUntil sleep -> new Draft(Kind.SLEEP, sleep.id()).at(bounded(sleep.until()));
                case Entry.SignalReceived signal ->
                    new Draft(Kind.SIGNAL, signal.id()).value(values.encodeOf(signal.id(), signal.value()));
                case Entry.ElementEnded element ->
                    new Draft(Kind.ELEMENT, element.id())
                            .count(element.index())
                            .value(values.encodeOf(element.id(), element.value()));
                case Entry.MapEnded map ->
                    new Draft(Kind.MAP, map.id()).count(map.size()).ended(map.at(), map.number());
                case Entry.Compensating stopped ->
                    new Draft(Kind.COMPENSATING, null)
                            .state(stopped.status())
                            .at(stopped.at())
                            .failure(stopped.cause());
                case Entry.CompensationAttemptFailed failed ->
                    new Draft(Kind.UNDO_FAILED, failed.id())
                            .failed(failed.attempt(), failed.failure(), failed.isLast());
                case Entry.Compensated done -> new Draft(Kind.COMPENSATED, done.id());
                case Entry.RunEnded end -> new Draft(Kind.ENDED, null).state(end.status());
            };
        }

        /** Returns a moment; one that no database can wait for is replaced by the farthest that it can. */
        private static Instant bounded(Instant at) {
            return at.isAfter(FARTHEST) ? FARTHEST : at.isBefore(FIRST) ? FIRST : at;
        }
    }

    /** The columns of a row that depend on its kind. */
    private static final class Draft {
        private final Kind kind;
        private final @Nullable String node;
        private @Nullable String state;
        private @Nullable String via;
        private @Nullable Integer count;
        private @Nullable Instant at;
        private byte @Nullable [] value;
        private @Nullable RecordedFailure failure;
        private List<String> nodes = List.of();
        private @Nullable Long place;

        Draft(Kind kind, @Nullable String node) {
            this.kind = kind;
            this.node = node;
        }

        Draft state(Enum<?> reached) {
            state = reached.name();
            return this;
        }

        Draft count(int number) {
            count = number;
            return this;
        }

        Draft at(Instant moment) {
            at = moment;
            return this;
        }

        Draft ended(Instant moment, long number) {
            at = moment;
            place = number;
            return this;
        }

        Draft value(byte @Nullable [] encoded) {
            value = encoded;
            return this;
        }

        Draft failure(@Nullable RecordedFailure reason) {
            failure = reason;
            return this;
        }

        Draft failed(int attempt, RecordedFailure reason, boolean isLast) {
            count = attempt;
            failure = reason;
            state = isLast ? LAST : null;
            return this;
        }

        EntryRow row(Maker of, int number) {
            return new EntryRow(
                    of.runId, of.epoch, number, kind, node, state, via, count, at, value, failure, nodes, place);
        }
    }

    /** Reads a row. Throws if it was not written by this version of Raddle. */
    static EntryRow read(String runId, ResultSet row) throws SQLException, IOException {
        String kind = row.getString("kind");
        int number = row.getInt("number");
        try {
            return new EntryRow(
                    runId,
                    row.getLong("epoch"),
                    number,
                    Kind.valueOf(kind),
                    row.getString("node"),
                    row.getString("state"),
                    row.getString("via"),
                    row.getObject("count", Integer.class),
                    instant(row, "at"),
                    row.getBytes("value"),
                    failure(row),
                    texts(row.getArray("nodes")),
                    row.getObject("place", Long.class));
        } catch (IllegalArgumentException unknown) {
            throw new IOException(
                    "row " + number + " of the journal has the unknown kind \"" + kind + "\"; it is of a newer version",
                    unknown);
        }
    }

    static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    static @Nullable RecordedFailure failure(ResultSet row) throws SQLException {
        String type = row.getString("failure_type");
        String trace = row.getString("failure_trace");
        return type == null
                ? null
                : new RecordedFailure(type, row.getString("failure_message"), trace == null ? "" : trace);
    }

    static List<String> texts(@Nullable Array texts) throws SQLException {
        return texts == null ? List.of() : List.of((String[]) texts.getArray());
    }

    /** Returns the entry of this row, which is not that of the work. */
    Entry entry(Values values) throws IOException {
        try {
            return switch (kind) {
                case WORK -> throw new IllegalArgumentException("it is not an entry");
                case BEGUN -> new Entry.Begun(moment(), nodes);
                case NODE ->
                    new Entry.NodeEnded(
                            id(),
                            NodeState.valueOf(text(state, "state")),
                            ValueSource.valueOf(text(via, "via")),
                            values.decode(value),
                            requiredCount(),
                            failure,
                            placeOrOrder(),
                            momentOrEpoch());
                case ATTEMPT_BEGAN -> new Entry.AttemptBegan(id(), requiredCount());
                case ATTEMPT ->
                    new Entry.AttemptFailed(
                            id(), requiredCount(), Objects.requireNonNull(failure, "failure"), LAST.equals(state));
                case DEADLINE -> new Entry.DeadlineSet(id(), moment());
                case SLEEP -> new Entry.SleepUntil(id(), moment());
                case SIGNAL -> new Entry.SignalReceived(id(), values.decode(value));
                case ELEMENT -> new Entry.ElementEnded(id(), requiredCount(), values.decode(value));
                case MAP -> new Entry.MapEnded(id(), requiredCount(), placeOrOrder(), momentOrEpoch());
                case COMPENSATING ->
                    new Entry.Compensating(FlowStatus.valueOf(text(state, "state")), failure, momentOrEpoch());
                case UNDO_FAILED ->
                    new Entry.CompensationAttemptFailed(
                            id(), requiredCount(), Objects.requireNonNull(failure, "failure"), LAST.equals(state));
                case COMPENSATED -> new Entry.Compensated(id());
                case ENDED -> new Entry.RunEnded(FlowStatus.valueOf(text(state, "state")));
            };
        } catch (IllegalArgumentException | NullPointerException wrong) {
            throw new IOException(
                    "row " + number + " of epoch " + epoch + " of the journal is not one that Raddle has written: "
                            + wrong.getMessage(),
                    wrong);
        }
    }

    private String id() {
        return text(node, "node");
    }

    private int requiredCount() {
        return Objects.requireNonNull(count, "count");
    }

    /** Returns the place of an end; in rows of earlier versions, which have none, it grows with the rows. */
    private long placeOrOrder() {
        return place == null ? (epoch << Integer.SIZE) + number : place;
    }

    /** Returns the moment, which rows of earlier versions do not have for ends. */
    private Instant momentOrEpoch() {
        return at == null ? Instant.EPOCH : at;
    }

    private Instant moment() {
        return Objects.requireNonNull(at, "at");
    }

    private static String text(@Nullable String column, String name) {
        return Objects.requireNonNull(column, name);
    }
}
