package dev.raddle.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Removes runs that have ended long ago and are not stuck, some at a time, so that no transaction is long. */
final class Retention {

    static final int PORTION = 500;

    private static final String REMOVE = "WITH old AS MATERIALIZED (SELECT id, flow, version FROM raddle_run"
            + " WHERE ended_at < now() - ? * interval '1 second' AND status <> 'STUCK'"
            + " AND NOT id = ANY (?) ORDER BY ended_at LIMIT "
            + PORTION
            + " FOR UPDATE SKIP LOCKED),"
            + " entries AS (DELETE FROM raddle_entry USING old WHERE run_id = old.id),"
            + " signals AS (DELETE FROM raddle_signal USING old WHERE run_id = old.id),"
            + " tasks AS (DELETE FROM raddle_task USING old WHERE task_name = old.flow || '/' || old.version"
            + " AND task_instance = old.id)"
            + " DELETE FROM raddle_run USING old WHERE raddle_run.id = old.id";

    private static final String REMOVE_WORKERS = "DELETE FROM raddle_worker WHERE seen_at < now() - interval '1 day'";

    private final Database database;
    private final Duration age;
    private final Supplier<Set<String>> awaited;
    private final BooleanSupplier isClosing;

    Retention(Database database, Duration age) {
        this(database, age, Set::of, () -> false);
    }

    /**
     * Creates the removal of runs.
     *
     * @param age the time for which runs are kept after their end
     * @param awaited returns the runs that are kept until this process has noticed their end
     * @param isClosing returns whether to stop at the next portion; another service goes on
     */
    Retention(Database database, Duration age, Supplier<Set<String>> awaited, BooleanSupplier isClosing) {
        this.database = database;
        this.age = age;
        this.awaited = awaited;
        this.isClosing = isClosing;
    }

    /** Removes the runs that are old enough, until this process is closing. Returns their number. */
    int remove() throws SQLException {
        int removed = 0;
        int portion;
        do {
            portion = removePortion();
            removed += portion;
        } while (portion == PORTION
                && !isClosing.getAsBoolean()
                && !Thread.currentThread().isInterrupted());
        database.statement(REMOVE_WORKERS, statement -> statement.executeUpdate());
        return removed;
    }

    int removePortion() throws SQLException {
        return database.statement(REMOVE, statement -> {
            statement.setDouble(1, age.toMillis() / 1e3);
            Object[] kept = awaited.get().toArray();
            statement.setArray(2, statement.getConnection().createArrayOf("text", kept));
            return statement.executeUpdate();
        });
    }
}
