package dev.raddle.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The queries with which users read runs. */
final class RunQueries {

    /** Runs whose version is of no live worker are listed as such; a worker is live for this long. */
    private static final Duration LIVE = Duration.ofSeconds(30);

    private static final String LIVE_VERSION = "EXISTS (SELECT 1 FROM raddle_worker w WHERE w.flow = r.flow"
            + " AND w.version = r.version AND w.seen_at > now() - interval '" + LIVE.toSeconds() + " seconds')";

    private static final String SELECT = "SELECT id, flow, version, CASE WHEN ended_at IS NULL AND NOT " + LIVE_VERSION
            + " THEN 'WITHOUT_VERSION' ELSE status END AS state, epoch, worker, created_at, begun_at, ended_at,"
            + " failure_type, failure_message, failure_trace, problem, cancel_reason, waits_until FROM raddle_run r";

    private static final String ENTRIES = "SELECT epoch, number, kind, node, state, via, count, at, failure_type,"
            + " failure_message, failure_trace, nodes, place FROM raddle_entry WHERE run_id = ? AND kind <> 'WORK'"
            + " ORDER BY epoch, number";

    private final Database database;

    RunQueries(Database database) {
        this.database = database;
    }

    @Nullable
    StoredRun find(String id) throws SQLException {
        StoredRun found = database.<@Nullable StoredRun>statement(SELECT + " WHERE id = ?", statement -> {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? read(row) : null;
            }
        });
        boolean mayBeLocked = found != null && found.endedAt() == null && found.problem() == null;
        String lock = mayBeLocked ? RowLock.ofRun(database, id) : null; // cannot be recorded in a locked row
        return found == null || lock == null ? found : found.withProblem(lock);
    }

    byte @Nullable [] value(String id) throws SQLException {
        return database.<byte @Nullable []>statement("SELECT value FROM raddle_run WHERE id = ?", statement -> {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getBytes(1) : null;
            }
        });
    }

    /** Returns the journal of a run, without the plan to which it is bound. */
    List<StoredEntry> entries(String id) throws SQLException {
        return database.statement(ENTRIES, statement -> {
            statement.setString(1, id);
            List<StoredEntry> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(entry(row));
                }
            }
            return found;
        });
    }

    private static StoredEntry entry(ResultSet row) throws SQLException {
        return new StoredEntry(
                row.getLong("epoch"),
                row.getInt("number"),
                row.getString("kind"),
                row.getString("node"),
                row.getString("state"),
                row.getString("via"),
                row.getObject("count", Integer.class),
                EntryRow.instant(row, "at"),
                EntryRow.failure(row),
                EntryRow.texts(row.getArray("nodes")),
                row.getObject("place", Long.class));
    }

    /** Returns runs. Throws if there is no run after which they follow. */
    List<StoredRun> list(RunFilter filter) throws SQLException {
        List<Object> parameters = new ArrayList<>();
        List<StoredRun> found = select(listOf(filter, parameters), parameters, RunQueries::readAll);
        requireCursor(filter, found.isEmpty());
        return found;
    }

    private void requireCursor(RunFilter filter, boolean isEmpty) throws SQLException {
        String cursor = isEmpty ? filter.after() : null;
        if (cursor != null && find(cursor) == null) {
            throw new NoSuchElementException("the page after run \"" + cursor
                    + "\" cannot be found, because the run was removed; begin with the first page");
        }
    }

    /** Counts the runs that {@link #list} would return, by their states. */
    Map<RunState, Integer> count(RunFilter filter) throws SQLException {
        List<Object> parameters = new ArrayList<>();
        String sql = "SELECT state, count(*) FROM (" + listOf(filter, parameters) + ") AS newest GROUP BY state";
        Map<RunState, Integer> found = select(sql, parameters, statement -> {
            Map<RunState, Integer> counts = new EnumMap<>(RunState.class);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    counts.put(RunState.valueOf(row.getString(1)), row.getInt(2));
                }
            }
            return counts;
        });
        requireCursor(filter, found.isEmpty());
        return found;
    }

    private static String listOf(RunFilter filter, List<Object> parameters) {
        StringBuilder sql = new StringBuilder(SELECT + " WHERE true");
        if (filter.flow() != null) {
            sql.append(" AND flow = ?");
            parameters.add(filter.flow());
        }
        if (filter.version() != null) {
            sql.append(" AND version = ?");
            parameters.add(filter.version());
        }
        if (filter.after() != null) {
            sql.append(" AND (created_at, id) < (SELECT created_at, id FROM raddle_run WHERE id = ?)");
            parameters.add(filter.after());
        }
        appendStates(sql, filter.states(), parameters);
        sql.append(" ORDER BY created_at DESC, id DESC LIMIT ?");
        parameters.add(filter.limit());
        return sql.toString();
    }

    private <T> T select(String sql, List<Object> parameters, Database.Use<T> reading) throws SQLException {
        return database.statement(sql, statement -> {
            for (int i = 0; i < parameters.size(); i++) {
                Object value = parameters.get(i);
                if (value instanceof String[] texts) {
                    statement.setArray(i + 1, statement.getConnection().createArrayOf("text", texts));
                } else {
                    statement.setObject(i + 1, value);
                }
            }
            return reading.of(statement);
        });
    }

    private static void appendStates(StringBuilder sql, Set<RunState> states, List<Object> parameters) {
        if (states.size() == RunState.values().length) {
            return;
        }
        if (states.equals(Set.of(RunState.STUCK))) {
            sql.append(" AND status = 'STUCK'"); // so that its small index can be used
            return;
        }
        String[] names = states.stream().map(Enum::name).toArray(String[]::new);
        boolean isStranded = states.contains(RunState.WITHOUT_VERSION);
        Set<RunState> open = EnumSet.of(RunState.WAITING, RunState.RUNNING, RunState.WITHOUT_VERSION);
        if (open.containsAll(states)) {
            sql.append(" AND ended_at IS NULL"); // so that the small index of open runs can be used
        }
        sql.append(" AND ((status = ANY (?) AND (ended_at IS NOT NULL OR ")
                .append(LIVE_VERSION)
                .append("))");
        sql.append(isStranded ? " OR (ended_at IS NULL AND NOT " + LIVE_VERSION + "))" : ")");
        parameters.add(names);
    }

    private static List<StoredRun> readAll(PreparedStatement statement) throws SQLException {
        List<StoredRun> runs = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                runs.add(read(row));
            }
        }
        return runs;
    }

    private static StoredRun read(ResultSet row) throws SQLException {
        RunState state = state(row);
        return new StoredRun(
                row.getString("id"),
                row.getString("flow"),
                row.getString("version"),
                state,
                row.getLong("epoch"),
                row.getString("worker"),
                Objects.requireNonNull(EntryRow.instant(row, "created_at")),
                EntryRow.instant(row, "begun_at"),
                EntryRow.instant(row, "ended_at"),
                EntryRow.failure(row),
                problem(row, state),
                waitsUntil(row));
    }

    private static RunState state(ResultSet row) throws SQLException {
        String text = row.getString("state");
        try {
            return RunState.valueOf(text);
        } catch (IllegalArgumentException unknown) {
            throw new SQLException(
                    "run \"" + row.getString("id") + "\" has the unknown state \"" + text
                            + "\"; it was not written by this version of Raddle",
                    unknown);
        }
    }

    /** Returns the problem of a run. One that is to be cancelled needs its plan, because its nodes are compensated. */
    private static @Nullable String problem(ResultSet row, RunState state) throws SQLException {
        String reason = row.getString("cancel_reason");
        return state != RunState.WITHOUT_VERSION || reason == null
                ? row.getString("problem")
                : "cancel requested: " + reason + "; version " + row.getString("version") + " of flow \""
                        + row.getString("flow") + "\" is needed to compensate";
    }

    private static @Nullable Instant waitsUntil(ResultSet row) throws SQLException {
        OffsetDateTime until = row.getObject("waits_until", OffsetDateTime.class);
        return until == null ? null : until.equals(OffsetDateTime.MAX) ? Instant.MAX : until.toInstant();
    }
}
