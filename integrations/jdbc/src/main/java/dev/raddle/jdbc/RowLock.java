package dev.raddle.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The locks of the rows of runs and schedules: how long a statement waits for one, and which session has one. */
final class RowLock {

    /** A lock that lasts longer is a problem of the run. */
    static final Duration LONG = Duration.ofSeconds(3);

    static final String UNKNOWN = "another transaction has locked its row; see pg_locks";

    /**
     * Bounds the wait of the statement for locks. It is part of the statement, and read before the first lock, because
     * the setting lasts until the end of the transaction, which may be this one statement. A statement that fails with
     * it has failed temporarily (Database.isTemporary).
     */
    static final String SOON =
            "soon AS MATERIALIZED (SELECT set_config('lock_timeout', '" + LONG.toMillis() + "', true) AS is_set)";

    /**
     * The same for the first statement of a transaction with several: if its process is stopped in between, the server
     * ends it.
     */
    static final String SOON_AND_SHORT = "(SELECT set_config('lock_timeout', '" + LONG.toMillis()
            + "', true) || set_config('idle_in_transaction_session_timeout', '" + 2 * LONG.toMillis()
            + "', true) AS is_set OFFSET 0) soon";

    private static final String BOUND = "SELECT is_set FROM " + SOON_AND_SHORT;

    /*
     * Each transaction that changes or locks a row writes its id into the row, and keeps a lock of that id. Of other
     * users' sessions a user may not see state and moment. A session that is seen to be idle has ended its transaction
     * since the lock was read.
     */
    private static final String BLOCKER = "SELECT a.pid, a.usename, a.application_name, a.state,"
            + " round(extract(epoch FROM clock_timestamp() - a.xact_start)) FROM %s r"
            + " JOIN pg_locks l ON l.locktype = 'transactionid' AND l.granted AND l.transactionid = r.xmax"
            + " JOIN pg_stat_activity a ON a.pid = l.pid"
            + " WHERE r.%s = ? AND a.state IS DISTINCT FROM 'idle'"
            + " AND coalesce(a.xact_start < clock_timestamp() - interval '" + LONG.toSeconds()
            + " seconds', true) LIMIT 1";

    private static final String OF_RUN = BLOCKER.formatted("raddle_run", "id");
    private static final String OF_SCHEDULE = BLOCKER.formatted("raddle_schedule", "name");

    private RowLock() {}

    /** Bounds the waits of the next statements of a transaction for locks, and its pauses between them. */
    static void bound(Connection connection) throws SQLException {
        Database.<Boolean>statement(connection, BOUND, PreparedStatement::execute);
    }

    /** Returns which session has locked the row of a run for long, and what to do about it, or null. */
    static @Nullable String ofRun(Database database, String id) throws SQLException {
        return problem(database, OF_RUN, id);
    }

    /** Returns which session has locked the row of a schedule for long, and what to do about it, or null. */
    static @Nullable String ofSchedule(Database database, String name) throws SQLException {
        return problem(database, OF_SCHEDULE, name);
    }

    private static @Nullable String problem(Database database, String sql, String key) throws SQLException {
        return database.<@Nullable String>statement(sql, statement -> {
            statement.setString(1, key);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? text(row) : null;
            }
        });
    }

    private static String text(ResultSet row) throws SQLException {
        String seconds = row.getString(5);
        return "the session with the pid " + row.getInt(1) + " (user \"" + row.getString(2) + "\", application \""
                + row.getString(3) + "\", " + row.getString(4) + ") has locked its row"
                + (seconds == null ? "" : " in a transaction of " + seconds + " s")
                + "; end that transaction, or the session with pg_terminate_backend";
    }
}
