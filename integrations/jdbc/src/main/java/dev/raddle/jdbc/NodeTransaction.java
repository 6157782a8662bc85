package dev.raddle.jdbc;

import dev.raddle.flow.FencedException;
import dev.raddle.flow.RecordedFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;

/** The transaction of one attempt of a node, in which its end is recorded. */
final class NodeTransaction {

    /*
     * Overview.
     *
     * The action works on the connection. When it has returned, `commit` inserts the row of the node's end, with the
     * fence in the same statement, and commits. The row of the run is locked from that statement to the commit only,
     * so an action that takes long does not delay a claim. If the process is stopped, PostgreSQL ends the session when
     * it has been idle for as long as heartbeats may be missing, so that the locks of the action do not outlive the
     * claim.
     *
     * The action must not end the transaction itself. That is found out by its id, whatever way it was done.
     *
     * If the connection breaks during the commit, it is unknown whether the commit has succeeded. The run is then
     * lost, and its next claim, which waits for the end of this transaction, finds the row of the node's end or not.
     */
    private static final String RECORD =
            "WITH held AS (SELECT id FROM raddle_run WHERE id = ? AND epoch = ? FOR SHARE),"
                    + " written AS (INSERT INTO raddle_entry (run_id, epoch, number, " + EntryRow.COLUMNS + ")"
                    + " SELECT held.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL FROM held"
                    + " WHERE pg_current_xact_id()::text = ? RETURNING 1)"
                    + " SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM written)";

    private static final String BEGIN =
            "SELECT pg_current_xact_id()::text, set_config('idle_in_transaction_session_timeout', ?, true)";

    private static final int VALID_WITHIN_SECONDS = 2;

    private final String node;
    private final Connection connection;
    private final boolean autoCommit; // the mode of the connection before
    private final String transaction; // its id

    private NodeTransaction(String node, Connection connection, boolean autoCommit, String transaction) {
        this.node = node;
        this.connection = connection;
        this.autoCommit = autoCommit;
        this.transaction = transaction;
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
                    return result.getString(1);
                }
            });
            return new NodeTransaction(node, connection, was, id);
        } catch (SQLException | RuntimeException | Error failure) {
            try (connection) {
                throw failure;
            }
        }
    }

    Connection connection() {
        return connection;
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
            boolean isBroken = isBroken() || Database.isTemporary(failure);
            rollBack();
            if (isBroken) {
                throw broken(failure);
            }
            throw failure;
        } catch (RuntimeException | Error failure) {
            rollBack();
            throw failure;
        }
    }

    private FencedException broken(SQLException cause) {
        FencedException fenced = new FencedException("the transaction of node \"" + node
                + "\" was broken by the database; the run continues from its records");
        fenced.initCause(cause);
        return fenced;
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
            throw new IllegalStateException("the action of node \"" + node
                    + "\" has ended its transaction; leave commit and rollback to Raddle, and throw to undo the work");
        }
    }

    private void bind(PreparedStatement statement, EntryRow row) throws SQLException {
        RecordedFailure failure = row.failure();
        statement.setString(1, row.runId());
        statement.setLong(2, row.epoch());
        statement.setLong(3, row.epoch());
        statement.setInt(4, row.number());
        statement.setString(5, row.kind().name());
        statement.setString(6, row.node());
        statement.setString(7, row.state());
        statement.setString(8, row.via());
        statement.setObject(9, row.count(), Types.INTEGER);
        statement.setTimestamp(10, row.at() == null ? null : Timestamp.from(row.at()));
        statement.setBytes(11, row.value());
        statement.setString(12, failure == null ? null : failure.type());
        statement.setString(13, failure == null ? null : JournalWriter.storable(failure.message()));
        statement.setString(14, failure == null ? null : failure.trace());
        statement.setString(15, transaction);
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
        Database.restore(connection, autoCommit);
        try {
            connection.close();
        } catch (SQLException broken) {
            // its pool drops it
        }
    }
}
