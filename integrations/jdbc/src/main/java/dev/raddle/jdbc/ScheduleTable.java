package dev.raddle.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The statements of schedules. */
final class ScheduleTable {

    /**
     * A schedule.
     *
     * @param nextAt the moment of the next round
     * @param isOpen whether the run of the latest round has not ended
     * @param problem why the next round, which is due, could not be submitted, or null
     * @param isLate whether the next round has been due for longer than a worker needs
     */
    record Row(
            String name,
            String flow,
            Schedule schedule,
            boolean isPaused,
            Instant nextAt,
            @Nullable String lastRun,
            boolean isOpen,
            @Nullable String problem,
            boolean isLate) {}

    private static final Duration LATE = Duration.ofSeconds(10);

    private static final String SELECT = "SELECT name, s.flow, cron, zone, overlap, is_paused, next_at, last_run,"
            + " r.id IS NOT NULL AS is_open, s.problem, next_at < clock_timestamp() - interval '" + LATE.toSeconds()
            + " seconds' AS is_late FROM raddle_schedule s"
            + " LEFT JOIN raddle_run r ON r.id = s.last_run AND r.ended_at IS NULL";

    /* A round that is due keeps its moment if the expression changes. */
    private static final String PUT = "INSERT INTO raddle_schedule AS s (name, flow, cron, zone, overlap, next_at)"
            + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET cron = excluded.cron,"
            + " zone = excluded.zone, overlap = excluded.overlap, next_at ="
            + " CASE WHEN (s.cron, s.zone) = (excluded.cron, excluded.zone) OR s.next_at <= clock_timestamp()"
            + " THEN s.next_at ELSE excluded.next_at END WHERE s.flow = excluded.flow";

    /*
     * Takes the task also from a worker that has it, since that may be removing it, having found no schedule. No task
     * has had this version before, so what such a worker does with the task that it had changes nothing.
     */
    private static final String WAKE = "INSERT INTO raddle_task (task_name, task_instance, execution_time, picked,"
            + " version) SELECT ?, name, next_at, false, extract(epoch FROM clock_timestamp()) * 1000000"
            + " FROM raddle_schedule WHERE name = ? ON CONFLICT (task_name, task_instance) DO UPDATE"
            + " SET execution_time = excluded.execution_time, picked = false, picked_by = NULL, last_heartbeat = NULL,"
            + " version = excluded.version";

    private static final String PAUSE = "UPDATE raddle_schedule SET is_paused = true WHERE name = ?";

    private static final String RESUME = "UPDATE raddle_schedule SET is_paused = false, next_at = ?, problem = NULL"
            + " WHERE name = ? AND cron = ? AND zone = ? AND is_paused";

    /* The task, too, also if a worker has it: a schedule that is stored again gets another one. */
    private static final String REMOVE = "WITH task AS (DELETE FROM raddle_task t USING raddle_schedule s"
            + " WHERE s.name = ? AND t.task_name = s.flow || '/* schedules' AND t.task_instance = s.name)"
            + " DELETE FROM raddle_schedule WHERE name = ?";

    /* Fails if another worker has submitted the round, or if the schedule has changed. */
    private static final String ADVANCE = "UPDATE raddle_schedule SET next_at = ?, last_run = ?, problem = ?"
            + " WHERE name = ? AND next_at = ? AND cron = ? AND zone = ? AND NOT is_paused";

    /* Waits for a request that has locked the row; a later one finds that the task is not picked. */
    private static final String RETURN_TASK = "WITH s AS (SELECT next_at, is_paused FROM raddle_schedule"
            + " WHERE name = ? FOR UPDATE) "
            + RunTable.RETURN_TASK + " CASE WHEN is_paused THEN now() + interval '36500 days'"
            + " ELSE greatest(next_at, clock_timestamp() + ? * interval '1 second') END"
            + " FROM s WHERE task_name = ? AND task_instance = ? AND picked AND version = ?";

    private final Database database;

    ScheduleTable(Database database) {
        this.database = database;
    }

    /** Returns the name of the tasks of the schedules of a flow. No version has such characters. */
    static String taskName(String flow) {
        return RunTable.taskName(flow, "* schedules");
    }

    private static OffsetDateTime time(Instant moment) {
        return moment.atOffset(ZoneOffset.UTC);
    }

    /** Stores a schedule, or changes it. Returns false if the name is that of a schedule of another flow. */
    boolean put(String name, String flow, Schedule schedule, Instant next) throws SQLException {
        String zone = schedule.zone().getId();
        String overlap = schedule.overlap().name();
        return changeAndWake(name, flow, PUT, name, flow, schedule.cron(), zone, overlap, time(next));
    }

    /** Lets a schedule continue with the first moment from now, if it is as it was read, and paused. */
    boolean resume(Row row) throws SQLException {
        Schedule schedule = row.schedule();
        Instant next = schedule.next(new DatabaseClock(database).now());
        String zone = schedule.zone().getId();
        return changeAndWake(row.name(), row.flow(), RESUME, time(next), row.name(), schedule.cron(), zone);
    }

    private boolean changeAndWake(String name, String flow, String sql, Object... arguments) throws SQLException {
        return change(connection -> Database.update(connection, sql, arguments) == 1
                && Database.update(connection, WAKE, taskName(flow), name) == 1);
    }

    /** Returns whether there is such a schedule. */
    boolean pause(String name) throws SQLException {
        return change(connection -> Database.update(connection, PAUSE, name) == 1);
    }

    /** Returns whether there was such a schedule. */
    boolean remove(String name) throws SQLException {
        return change(connection -> Database.update(connection, REMOVE, name, name) == 1);
    }

    /**
     * Changes a schedule in a transaction. Each statement waits for a lock for some seconds only. If this process is
     * stopped in between, the server ends the transaction.
     */
    boolean change(Database.Work<Boolean> work) throws SQLException {
        return database.<Boolean>transaction(connection -> {
            RowLock.bound(connection);
            return work.with(connection);
        });
    }

    @Nullable
    Row find(String name) throws SQLException {
        List<Row> found = database.statement(SELECT + " WHERE name = ?", statement -> {
            statement.setString(1, name);
            return rows(statement);
        });
        return found.isEmpty() ? null : found.getFirst();
    }

    /** Returns all schedules, with the reason why a round that is due was not submitted. */
    List<StoredSchedule> list() throws SQLException {
        List<StoredSchedule> stored = new ArrayList<>();
        for (Row row : database.statement(SELECT + " ORDER BY is_paused, next_at, name", ScheduleTable::rows)) {
            Instant next = row.isPaused() ? null : row.nextAt();
            stored.add(new StoredSchedule(row.name(), row.flow(), row.schedule(), next, row.lastRun(), problem(row)));
        }
        return stored;
    }

    private @Nullable String problem(Row row) throws SQLException {
        if (row.problem() != null || row.isPaused() || !row.isLate()) {
            return row.problem();
        }
        String lock = RowLock.ofSchedule(database, row.name());
        if (lock != null) {
            return lock;
        }
        return row.isOpen()
                ? "waits for the end of run \"" + row.lastRun() + "\""
                : "due, and no worker has submitted the round; a worker that lives must call schedule(\"" + row.name()
                        + "\", …) and have a free place for a run";
    }

    private static List<Row> rows(PreparedStatement statement) throws SQLException {
        List<Row> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                Schedule schedule = new Schedule(
                        row.getString("cron"),
                        ZoneId.of(row.getString("zone")),
                        Schedule.Overlap.valueOf(row.getString("overlap")));
                rows.add(new Row(
                        row.getString("name"),
                        row.getString("flow"),
                        schedule,
                        row.getBoolean("is_paused"),
                        Objects.requireNonNull(EntryRow.instant(row, "next_at")),
                        row.getString("last_run"),
                        row.getBoolean("is_open"),
                        row.getString("problem"),
                        row.getBoolean("is_late")));
            }
        }
        return rows;
    }

    /**
     * Ends a round, in the transaction of its run, or keeps it at its moment with a problem.
     *
     * @param row the schedule as it was when the round began
     * @return false if the schedule has changed since, so that the round is not this one's to end
     */
    static boolean advance(
            Connection connection, Row row, Instant next, @Nullable String lastRun, @Nullable String problem)
            throws SQLException {
        Schedule schedule = row.schedule();
        String zone = schedule.zone().getId();
        OffsetDateTime moment = time(row.nextAt());
        String text = JournalWriter.storable(problem);
        return Database.update(
                        connection, ADVANCE, time(next), lastRun, text, row.name(), moment, schedule.cron(), zone)
                == 1;
    }

    /** Lets the task look again at the next moment, but not before a delay. */
    void returnTask(String flow, String name, long version, Duration delay) throws SQLException {
        double seconds = delay.toMillis() / 1e3;
        boolean _ = change(connection ->
                Database.update(connection, RETURN_TASK, name, seconds, taskName(flow), name, version) == 1);
    }
}
