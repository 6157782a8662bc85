package dev.raddle.jdbc;

import dev.raddle.flow.FencedException;
import dev.raddle.flow.RecordedFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** The transaction of one attempt of a node, in which its end is recorded. */
final class NodeTransaction {

    /*
     * Overview.
     *
     * The action works on the connection. When it has returned, `verify` looks whether the transaction is still the one
     * that has begun, and lets deferred constraints be checked, so that their failures are those of the action. Then
     * `commit` inserts the row of the node's end, with the fence in the same statement, and commits. The row of the run
     * is locked from that statement to the commit only, so an action that takes long does not delay a claim. If the
     * process is stopped, PostgreSQL ends the session when it has been idle for as long as heartbeats may be missing,
     * so that the locks of the action do not outlive the claim. The statement waits for the row for this time, too:
     * then the transaction is rolled back, and the run continues later.
     *
     * The action must not end the transaction itself. Its connection refuses that, and remembers it. If it is done in
     * another way, such as by a statement, that is found out by the id of the transaction.
     *
     * If the connection breaks during the commit, it is unknown whether the commit has succeeded. The run is then
     * lost, and its next claim, which waits for the end of this transaction, finds the row of the node's end or not.
     *
     * `commit` and `rollBack` return the connection to its pool, whatever happens.
     */
    private static final String RECORD =
            "WITH soon AS MATERIALIZED (SELECT set_config('lock_timeout', ?, true) AS is_set),"
                    + " held AS (SELECT id FROM soon, raddle_run WHERE soon.is_set IS NOT NULL"
                    + " AND id = ? AND epoch = ? FOR SHARE OF raddle_run),"
                    + " written AS (INSERT INTO raddle_entry (run_id, epoch, number, " + EntryRow.COLUMNS + ")"
                    + " SELECT held.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ? FROM held"
                    + " WHERE pg_current_xact_id()::text = ? RETURNING 1)"
                    + " SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM written)";

    private static final String BEGIN =
            "SELECT pg_current_xact_id()::text, set_config('idle_in_transaction_session_timeout', ?, true),"
                    + " current_setting('transaction_read_only')";

    private static final String VERIFY = "SET CONSTRAINTS ALL IMMEDIATE;"
            + " SELECT pg_current_xact_id_if_assigned()::text, current_setting('transaction_read_only')";

    private static final String READ_ONLY = "25006";

    private static final int VALID_WITHIN_SECONDS = 2;

    private final String node;
    private final Connection connection;
    private final ActionConnection ofAction;
    private final Connection view; // of the connection, for the action
    private final boolean autoCommit; // the mode of the connection before
    private final String transaction; // its id
    private final Duration idle; // the longest time without a statement
    private final long begun = System.nanoTime();

    private NodeTransaction(String node, Connection connection, boolean autoCommit, String transaction, Duration idle) {
        this.node = node;
        this.connection = connection;
        this.autoCommit = autoCommit;
        this.transaction = transaction;
        this.idle = idle;
        ofAction = new ActionConnection(node, connection);
        view = ofAction.view();
    }

    static NodeTransaction begin(Database database, String node, Duration idle) throws SQLException {
        Connection connection = database.source().getConnection();
        try {
            boolean was = connection.getAutoCommit();
            connection.setAutoCommit(false);
            String id = Database.statement(connection, BEGIN, statement -> {
                statement.setString(1, Long.toString(idle.toMillis()));
                try (ResultSet result = statement.executeQuery()) {
                    result.next();
                    if (result.getString(3).equals("on")) {
                        throw new SQLException("the database is read-only", READ_ONLY);
                    }
                    return result.getString(1);
                }
            });
            return new NodeTransaction(node, connection, was, id, idle);
        } catch (SQLException | RuntimeException | Error failure) {
            try (connection) {
                throw failure;
            }
        }
    }

    /** Returns the connection for the action. */
    Connection connection() {
        return view;
    }

    /**
     * Ensures that the action has left a transaction that can be committed.
     *
     * @throws SQLException if a statement of the action or a deferred constraint has failed, or the connection broke
     * @throws IllegalStateException if the action has ended the transaction or made it read-only
     */
    void verify() throws SQLException {
        String refused = ofAction.refused();
        if (refused != null) {
            throw new IllegalStateException("the action of node \"" + node + "\" has called " + refused + "(): "
                    + ActionConnection.leaveIt(node));
        }
        boolean interrupted = Thread.interrupted(); // would close the connection in a virtual thread
        try (Statement statement = connection.createStatement()) {
            statement.execute(VERIFY);
            statement.getMoreResults();
            try (ResultSet result = statement.getResultSet()) {
                result.next();
                if (!transaction.equals(result.getString(1))) {
                    throw ended();
                }
                if (result.getString(2).equals("on")) {
                    throw new IllegalStateException("the action of node \"" + node
                            + "\" has made its transaction read-only, so that its end cannot be recorded in it");
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private IllegalStateException ended() {
        return new IllegalStateException(
                "the action of node \"" + node + "\" has ended its transaction: " + ActionConnection.leaveIt(node));
    }

    /**
     * Records the end of the node and commits. If this throws, nothing is recorded, and the transaction is rolled back.
     * An interrupt does not end this; it is preserved.
     *
     * @throws FencedException if the epoch of the run is another one, or if the database went away, so that the run
     *     must be continued from its records
     */
    void commit(EntryRow row) throws SQLException {
        boolean interrupted = Thread.interrupted(); // would close the connection in a virtual thread
        try {
            recordAndCommit(row);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void recordAndCommit(EntryRow row) throws SQLException {
        try {
            record(row);
            connection.commit();
            release();
        } catch (SQLException failure) {
            boolean mustContinue =
                    isBroken() || (Database.isTemporary(failure) && !READ_ONLY.equals(failure.getSQLState()));
            rollBack();
            if (mustContinue) {
                FencedException fenced = new FencedException(problem(failure));
                fenced.initCause(failure);
                throw fenced;
            }
            throw failure;
        } catch (RuntimeException | Error failure) {
            rollBack();
            throw failure;
        }
    }

    /** Returns why the run has to continue from its records, and what to do about it if that happens again. */
    String problem(@Nullable SQLException cause) {
        Duration age = Duration.ofNanos(System.nanoTime() - begun);
        String text = "the transaction of node \"" + node + "\" was broken by the database " + age.toMillis()
                + " ms after its begin";
        if (age.compareTo(idle) >= 0) {
            text += "; it ends one that is not used for " + idle.toMillis()
                    + " ms, the time that heartbeats may be missing: ask for the connection when everything else is"
                    + " done, or let heartbeats be missing for longer";
        }
        return cause == null ? text : text + " (" + cause.getMessage() + ")";
    }

    private void record(EntryRow row) throws SQLException {
        long[] counts = Database.statement(connection, RECORD, statement -> {
            bind(statement, row);
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return new long[] {result.getLong(1), result.getLong(2)};
            }
        });
        if (counts[0] == 0) {
            throw new FencedException("run \"" + row.runId() + "\" was claimed again after epoch " + row.epoch());
        }
        if (counts[1] == 0) {
            throw ended();
        }
    }

    private void bind(PreparedStatement statement, EntryRow row) throws SQLException {
        RecordedFailure failure = row.failure();
        statement.setString(1, Long.toString(idle.toMillis()));
        statement.setString(2, row.runId());
        statement.setLong(3, row.epoch());
        statement.setLong(4, row.epoch());
        statement.setInt(5, row.number());
        statement.setString(6, row.kind().name());
        statement.setString(7, row.node());
        statement.setString(8, row.state());
        statement.setString(9, row.via());
        statement.setObject(10, row.count(), Types.INTEGER);
        Instant at = row.at();
        statement.setObject(11, at == null ? null : at.atOffset(ZoneOffset.UTC), Types.TIMESTAMP_WITH_TIMEZONE);
        statement.setBytes(12, row.value());
        statement.setString(13, failure == null ? null : JournalWriter.storable(failure.type()));
        statement.setString(14, failure == null ? null : JournalWriter.storable(failure.message()));
        statement.setString(15, failure == null ? null : JournalWriter.storable(failure.trace()));
        statement.setObject(16, row.place(), Types.BIGINT);
        statement.setString(17, transaction);
    }

    /** Returns whether the connection has failed, so that the action could not do its work. */
    boolean isBroken() {
        try {
            return !connection.isValid(VALID_WITHIN_SECONDS);
        } catch (SQLException failure) {
            return true;
        }
    }

    void rollBack() {
        Database.rollBack(connection);
        release();
    }

    private void release() {
        ofAction.end();
        Database.restore(connection, autoCommit);
        try {
            connection.close();
        } catch (SQLException broken) {
            // its pool drops it
        }
    }
}
