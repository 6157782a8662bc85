package dev.raddle.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Runs statements on connections of the user's data source. */
final class Database {

    /** Work with a connection. */
    interface Work<T extends @Nullable Object> {
        T with(Connection connection) throws SQLException;
    }

    /** Work with a statement. */
    interface Use<T extends @Nullable Object> {
        T of(PreparedStatement statement) throws SQLException;
    }

    /** Classes of SQL states after which the same statement may succeed: connection, resources, shutdown, system. */
    private static final Set<String> TEMPORARY = Set.of("08", "53", "57", "58");

    /** States with the same meaning: serialization failure, deadlock, lock timeout, idle transaction ended. */
    private static final Set<String> TEMPORARY_STATES = Set.of("40001", "40P01", "55P03", "25P03", "25006");

    private static final String SEE_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

    private static final int MOST_CAUSES = 32;

    private final DataSource source;

    Database(DataSource source) {
        this.source = source;
    }

    DataSource source() {
        return source;
    }

    /**
     * Holds connections at the same time.
     *
     * @param wanted the number of connections
     * @param patience the longest time to wait for them
     * @return how many there were
     */
    int available(int wanted, Duration patience) throws InterruptedException {
        CountDownLatch missing = new CountDownLatch(wanted);
        CountDownLatch done = new CountDownLatch(1);
        for (int i = 0; i < wanted; i++) {
            Thread.startVirtualThread(() -> hold(missing, done));
        }
        try {
            boolean _ = missing.await(patience.toNanos(), TimeUnit.NANOSECONDS);
            return wanted - (int) missing.getCount();
        } finally {
            done.countDown();
        }
    }

    private void hold(CountDownLatch missing, CountDownLatch done) {
        try (Connection _ = source.getConnection()) {
            missing.countDown();
            done.await();
        } catch (SQLException | InterruptedException none) {
            // it is missing
        }
    }

    /** Runs single statements, each of which commits itself. */
    <T extends @Nullable Object> T autoCommit(Work<T> work) throws SQLException {
        try (Connection connection = source.getConnection()) {
            boolean was = connection.getAutoCommit();
            if (!was) {
                connection.setAutoCommit(true);
            }
            try {
                return work.with(connection);
            } finally {
                if (!was && !connection.isClosed()) {
                    connection.setAutoCommit(false);
                }
            }
        }
    }

    /** Runs one statement, which commits itself. */
    <T extends @Nullable Object> T statement(String sql, Use<T> use) throws SQLException {
        return autoCommit(connection -> statement(connection, sql, use));
    }

    /** Runs one statement on a connection. */
    static <T extends @Nullable Object> T statement(Connection connection, String sql, Use<T> use) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            return use.of(statement);
        }
    }

    /** Runs one statement with arguments on a connection. Returns the number of rows that it has changed. */
    static int update(Connection connection, String sql, @Nullable Object... arguments) throws SQLException {
        return statement(connection, sql, statement -> {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            return statement.executeUpdate();
        });
    }

    /**
     * Runs work in a transaction, which commits if the work returns. Each statement sees what was committed before it,
     * whatever the database and the pool have as their default.
     */
    <T extends @Nullable Object> T transaction(Work<T> work) throws SQLException {
        try (Connection connection = source.getConnection()) {
            boolean was = connection.getAutoCommit();
            connection.setAutoCommit(false);
            boolean done = false;
            try {
                boolean _ = statement(connection, SEE_COMMITTED, PreparedStatement::execute);
                T result = work.with(connection);
                connection.commit();
                done = true;
                return result;
            } finally {
                if (!done) {
                    rollBack(connection);
                }
                restore(connection, was);
            }
        }
    }

    /** Rolls back; a connection that cannot is broken, and its transaction ends with it. */
    static void rollBack(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException broken) {
            // the exception that led here says more
        }
    }

    /** Gives a connection the mode that it had; one that cannot take it is broken, which its pool will notice. */
    static void restore(Connection connection, boolean autoCommit) {
        try {
            if (!connection.isClosed()) {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException broken) {
            // the exception that led here says more
        }
    }

    /** Returns an exception and its causes, as far as they can be read: they may be of user code. */
    static List<Throwable> causes(Throwable failure) {
        List<Throwable> found = new ArrayList<>(List.of(failure));
        try {
            for (Throwable next = failure.getCause();
                    next != null && found.size() < MOST_CAUSES;
                    next = next.getCause()) {
                found.add(next);
            }
        } catch (Throwable broken) {
            // the causes above it are known
        }
        return found;
    }

    /** Returns whether a statement that failed may succeed later, because the database was away or busy. */
    static boolean isTemporary(SQLException failure) {
        for (Throwable each : causes(failure)) {
            if (each instanceof java.sql.SQLTransientException
                    || each instanceof java.sql.SQLRecoverableException
                    || each instanceof java.io.IOException) {
                return true;
            }
            String state = each instanceof SQLException sql ? sql.getSQLState() : null;
            if (state != null
                    && (TEMPORARY_STATES.contains(state)
                            || TEMPORARY.contains(state.substring(0, Math.min(2, state.length()))))) {
                return true;
            }
        }
        return false;
    }
}
