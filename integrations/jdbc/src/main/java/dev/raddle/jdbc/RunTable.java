package dev.raddle.jdbc;

import dev.raddle.flow.RecordedFailure;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The statements with which a service submits, executes and watches whole runs. */
final class RunTable {

    /**
     * A claimed run.
     *
     * @param epoch the epoch of the claim
     * @param parameter the encoded parameter
     * @param again the nodes to run again
     * @param isAgain whether the run has ended before
     * @param losses how often the run has lost its worker without a record in between
     * @param cancelReason the reason of a request to cancel, or null
     * @param isSignalled whether signals are stored
     * @param context the saved context of the submission
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Claim(
            String id,
            long epoch,
            byte @Nullable [] parameter,
            List<String> again,
            boolean isAgain,
            int losses,
            @Nullable String cancelReason,
            boolean isSignalled,
            Map<String, String> context) {}

    /**
     * What a worker has to know of a run that it executes.
     *
     * @param epoch the epoch of the latest claim
     * @param cancelReason the reason of a request to cancel, or null
     */
    record Watched(long epoch, @Nullable String cancelReason) {}

    /**
     * A run that was submitted before.
     *
     * @param parameter its encoded parameter
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Submitted(String flow, String version, byte @Nullable [] parameter) {}

    /**
     * The end of a run.
     *
     * @param status its status
     * @param value its encoded value
     * @param failure the exception of a run without success
     * @param problem the reason why it has no value, or was not compensated
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Ended(
            String status,
            byte @Nullable [] value,
            @Nullable RecordedFailure failure,
            @Nullable String problem) {}

    /** Takes a task that is there, such as that of a run with this id that was removed, from the worker that has it. */
    private static final String RESTORE_TASK =
            " INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                    + " SELECT ?, id, now() - interval '1 second', false, 1 FROM run"
                    + " ON CONFLICT (task_name, task_instance) DO UPDATE SET execution_time = excluded.execution_time,"
                    + " picked = false, picked_by = NULL, last_heartbeat = NULL, version = raddle_task.version + 1";

    private static final String SUBMIT = "run AS (INSERT INTO raddle_run (id, flow, version, parameter, context)"
            + " SELECT ?, ?, ?, CAST(? AS bytea), CAST(? AS text[])%s ON CONFLICT (id) DO NOTHING RETURNING id)"
            + RESTORE_TASK;

    /** The setting of a bound would last until the end of the transaction, which is the user's. */
    private static final String SUBMIT_IN_TRANSACTION = "WITH " + SUBMIT.formatted("");

    private static final String SUBMIT_SOON =
            "WITH " + RowLock.SOON + ", " + SUBMIT.formatted(" FROM soon WHERE soon.is_set IS NOT NULL");

    /* Each run that has not ended has a task, unless someone has deleted it by hand. */
    private static final String RESTORE = "INSERT INTO raddle_task (task_name, task_instance, execution_time, picked,"
            + " version) SELECT flow || '/' || version, id, now() - interval '1 second', false, 1 FROM raddle_run"
            + " WHERE id = ? AND ended_at IS NULL ON CONFLICT DO NOTHING";

    private static final String SUBMITTED = "SELECT flow, version, parameter FROM raddle_run WHERE id = ?";

    /*
     * How often the run has lost its worker without a record in between. A worker returns or parks a run that it
     * leaves, so a run that is RUNNING when it is claimed has lost its worker.
     */
    private static final String LOSSES = "CASE WHEN EXISTS (SELECT 1 FROM raddle_entry p WHERE p.run_id = raddle_run.id"
            + " AND p.epoch = raddle_run.epoch AND " + EntryRow.IS_PROGRESS + ") THEN 0 ELSE losses END"
            + " + CASE WHEN status = 'RUNNING' THEN 1 ELSE 0 END";

    /*
     * Nodes run again only in the first try after the request. Whether that try has begun is known from its entry,
     * which has a greater epoch than the request.
     */
    private static final String CLAIM = "WITH " + RowLock.SOON
            + " UPDATE raddle_run SET epoch = epoch + 1, status = 'RUNNING', worker = ?,"
            + " begun_at = coalesce(begun_at, now()), problem = NULL, waits_until = NULL, losses = " + LOSSES
            + " FROM soon WHERE soon.is_set IS NOT NULL AND id = ? AND ended_at IS NULL AND (? OR " + LOSSES + " = 0)"
            + " RETURNING epoch, parameter, cancel_reason, again_after > 0,"
            + " CASE WHEN NOT EXISTS (SELECT 1 FROM raddle_entry e"
            + " WHERE e.run_id = raddle_run.id AND e.epoch > again_after AND e.kind = 'BEGUN') THEN again END, losses,"
            + " EXISTS (SELECT 1 FROM raddle_signal s WHERE s.run_id = raddle_run.id), context";

    private static final String END = "WITH " + RowLock.SOON
            + ", run AS (UPDATE raddle_run SET status = ?, value = ?, failure_type = ?,"
            + " failure_message = ?, failure_trace = ?, problem = ?, cancel_reason = NULL, ended_at = now()"
            + " FROM soon WHERE soon.is_set IS NOT NULL AND id = ? AND epoch = ? AND ended_at IS NULL"
            + " RETURNING id, epoch)"
            + " INSERT INTO raddle_entry (run_id, epoch, number, kind, state)"
            + " SELECT id, epoch, ?, 'ENDED', ? FROM run";

    private static final String HAS_ENDED =
            "SELECT 1 FROM raddle_run WHERE id = ? AND epoch = ? AND ended_at IS NOT NULL";

    private static final String RELEASE =
            "UPDATE raddle_run SET status = ?, problem = ? WHERE id = ? AND epoch = ? AND ended_at IS NULL";

    /* What a worker that returns its run was doing has not died. */
    private static final String FORGET_BEGINS =
            "DELETE FROM raddle_entry WHERE run_id = ? AND epoch = ? AND kind = 'ATTEMPT_BEGAN'";

    /** The nodes that the latest worker was executing, as far as it has recorded that. */
    private static final String LOST_NODES = "SELECT DISTINCT b.node FROM raddle_entry b WHERE b.run_id = ?"
            + " AND b.kind = 'ATTEMPT_BEGAN' AND b.epoch ="
            + " (SELECT max(epoch) FROM raddle_entry WHERE run_id = b.run_id)"
            + " AND NOT EXISTS (SELECT 1 FROM raddle_entry e WHERE e.run_id = b.run_id AND e.node = b.node"
            + " AND e.kind IN ('NODE', 'MAP', 'ELEMENT', 'ATTEMPT') AND (e.epoch, e.number) > (b.epoch, b.number))"
            + " ORDER BY b.node";

    private static final String STICK = "UPDATE raddle_run SET status = 'STUCK', problem = ?, ended_at = now()"
            + " WHERE id = ? AND epoch = ? AND ended_at IS NULL";

    /* A run that no worker has claimed yet needs none to end. */
    private static final String CANCEL = "UPDATE raddle_run SET cancel_reason = coalesce(cancel_reason, ?),"
            + " status = CASE WHEN epoch = 0 THEN 'CANCELLED' ELSE status END,"
            + " ended_at = CASE WHEN epoch = 0 THEN now() END"
            + " WHERE id = ? AND ended_at IS NULL";

    private static final String LOCK = "SELECT ended_at IS NOT NULL FROM raddle_run, " + RowLock.SOON_AND_SHORT
            + " WHERE soon.is_set IS NOT NULL AND id = ? FOR NO KEY UPDATE OF raddle_run";

    /*
     * A node that has ended takes no signal, nor does one in a subflow that has ended, or in a run that is being
     * cancelled. A node has also ended at its
     * recorded deadline. An entry counts unless a later try has begun that forgets it. While a run waits for its next
     * try, what that forgets is unknown: no entry counts.
     */
    private static final String SIGNAL = "INSERT INTO raddle_signal (run_id, node, value)"
            + " SELECT r.id, n.id, CAST(? AS bytea)"
            + " FROM raddle_run r, (SELECT CAST(? AS text) AS id) n WHERE r.id = ?"
            + " AND r.cancel_reason IS NULL AND NOT EXISTS (SELECT 1 FROM raddle_entry e WHERE e.run_id = r.id"
            + " AND (e.kind = 'NODE' OR (e.kind = 'DEADLINE' AND e.at <= clock_timestamp()))"
            + " AND (e.node = n.id OR (? AND starts_with(n.id, e.node || '/')))"
            + " AND (r.again_after = 0 OR EXISTS (SELECT 1 FROM raddle_entry b WHERE b.run_id = r.id"
            + " AND b.kind = 'BEGUN' AND b.epoch > r.again_after))"
            + " AND NOT EXISTS (SELECT 1 FROM raddle_entry b WHERE b.run_id = r.id AND b.kind = 'BEGUN'"
            + " AND (b.epoch, b.number) > (e.epoch, e.number)"
            + " AND (e.state IS DISTINCT FROM 'SUCCESS' OR e.node = ANY (b.nodes)))) ON CONFLICT DO NOTHING";

    /*
     * Parking, and the requests that end it. Each is a transaction that first locks the row of the run, and whose
     * later statements see all that was committed before. So a request comes before the parking, which then finds it,
     * or after it, and then finds the row of the task to wake.
     */

    private static final String HOLD = "SELECT cancel_reason IS NOT NULL FROM raddle_run, " + RowLock.SOON_AND_SHORT
            + " WHERE soon.is_set IS NOT NULL AND id = ? AND epoch = ? AND ended_at IS NULL"
            + " FOR NO KEY UPDATE OF raddle_run";

    /** Returns a task to the table; when it is due, and which one it is, follows. */
    static final String RETURN_TASK = "UPDATE raddle_task SET picked = false, picked_by = NULL,"
            + " last_heartbeat = NULL, consecutive_failures = 0, last_success = now(), version = version + 1,"
            + " execution_time =";

    private static final String PARK_TASK = RETURN_TASK + " clock_timestamp() + ? * interval '1 second'"
            + " WHERE task_name = ? AND task_instance = ? AND picked AND version = ?";

    private static final String PARK = "UPDATE raddle_run SET status = 'WAITING', waits_until ="
            + " clock_timestamp() + ? * interval '1 second' WHERE id = ?";

    private static final String PARK_FOR_SIGNAL =
            "UPDATE raddle_run SET status = 'WAITING', waits_until = 'infinity' WHERE id = ?";

    private static final String PARK_NO_LONGER =
            "UPDATE raddle_run SET status = 'WAITING', waits_until = NULL WHERE id = ?";

    private static final String WAKE = "UPDATE raddle_task t SET execution_time = now() - interval '1 second'"
            + " FROM raddle_run r WHERE r.id = ? AND t.task_name = r.flow || '/' || r.version"
            + " AND t.task_instance = r.id AND NOT t.picked AND t.execution_time > now()";

    /** Changes the row in any case: JournalWriter recognizes by this that there was a request. */
    private static final String WAITS_NO_LONGER = "UPDATE raddle_run SET waits_until = NULL WHERE id = ?";

    /** A task is due after this time at the latest, also if only a signal can wake it. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** Whether a signal is for a node, or for one of its subflow. */
    private static final String IS_IN = "(s.node = n.id OR starts_with(s.node, n.id || '/'))";

    /*
     * Signals that a run received before it runs again. Those of nodes that run again are not valid for them. Which
     * nodes these are is known when the next try has begun: its entry has them, also those that depend on the named
     * ones, and those that were compensated. Until then the old signals are marked by the moment at which they were
     * sent. A worker removes the marked ones of these nodes before it delivers any. A service that has the plan also
     * removes those of the named nodes and their dependants at once, so that the next signal to them is accepted.
     */
    private static final String RERUN = "WITH run AS (UPDATE raddle_run SET status = 'WAITING', again = ?,"
            + " again_after = epoch, ended_at = NULL, cancel_reason = NULL, value = NULL, failure_type = NULL,"
            + " failure_message = NULL,"
            + " failure_trace = NULL, problem = NULL, losses = 0 WHERE id = ? AND ended_at IS NOT NULL RETURNING id),"
            + " gone AS (DELETE FROM raddle_signal s USING run WHERE s.run_id = run.id AND EXISTS"
            + " (SELECT 1 FROM unnest(CAST(? AS text[])) AS n (id) WHERE " + IS_IN + ")),"
            + " marked AS (UPDATE raddle_signal s SET sent_at = '-infinity' FROM run WHERE s.run_id = run.id AND NOT"
            + " EXISTS (SELECT 1 FROM unnest(CAST(? AS text[])) AS n (id) WHERE " + IS_IN + "))"
            + RESTORE_TASK;

    /** A stuck run continues its try: nothing is forgotten but what its lost worker was executing. */
    private static final String CONTINUE = "WITH run AS (UPDATE raddle_run SET status = 'WAITING', ended_at = NULL,"
            + " problem = NULL, failure_type = NULL, failure_message = NULL, failure_trace = NULL, losses = 0"
            + " WHERE id = ? AND status = 'STUCK' RETURNING id),"
            + " gone AS (DELETE FROM raddle_entry USING run WHERE run_id = run.id AND kind = 'ATTEMPT_BEGAN')"
            + RESTORE_TASK;

    private static final String FORGET_SIGNALS = "DELETE FROM raddle_signal s USING raddle_run r, raddle_entry e"
            + " WHERE s.run_id = ? AND s.sent_at = '-infinity' AND r.id = s.run_id AND e.run_id = s.run_id"
            + " AND e.epoch > r.again_after AND e.kind = 'BEGUN' AND EXISTS"
            + " (SELECT 1 FROM unnest(e.nodes) AS n (id) WHERE " + IS_IN + ")";

    private static final String REFUSE = "WITH run AS (UPDATE raddle_run SET problem = ?"
            + " WHERE id = ? AND epoch = ? AND ended_at IS NULL RETURNING id)"
            + " DELETE FROM raddle_signal s USING run WHERE s.run_id = run.id AND s.node = ?";

    private static final String WATCH = "SELECT id, epoch, cancel_reason FROM raddle_run WHERE id = ANY (?)";

    private static final String OPEN = "SELECT id FROM raddle_run WHERE id = ANY (?) AND ended_at IS NULL";

    private static final String SIGNALS = "SELECT node, value FROM raddle_signal WHERE run_id = ?";

    private static final String SIGNALLED = "SELECT run_id, node FROM raddle_signal WHERE run_id = ANY (?)";

    private static final String SEEN = "INSERT INTO raddle_worker (name, flow, version) VALUES (?, ?, ?)"
            + " ON CONFLICT (flow, version, name) DO UPDATE SET seen_at = now()";

    private static final String GONE = "DELETE FROM raddle_worker WHERE name = ?";

    private final Database database;

    RunTable(Database database) {
        this.database = database;
    }

    static String taskName(String flow, String version) {
        return flow + "/" + version;
    }

    // Submitting.

    /** Inserts a run and its task. Returns false if there is a run with the id. */
    static boolean submit(
            Connection connection,
            String id,
            String flow,
            String version,
            byte @Nullable [] parameter,
            Map<String, String> context)
            throws SQLException {
        Array saved = context.isEmpty() ? null : connection.createArrayOf("text", inTurn(context));
        String task = taskName(flow, version);
        String sql = connection.getAutoCommit() ? SUBMIT_SOON : SUBMIT_IN_TRANSACTION;
        return Database.update(connection, sql, id, flow, version, parameter, saved, task) == 1;
    }

    /** Returns the names and values of a context in turn. */
    private static @Nullable Object[] inTurn(Map<String, String> context) {
        return context.entrySet().stream()
                .flatMap(each -> Stream.of(each.getKey(), each.getValue()))
                .map(JournalWriter::storable)
                .toArray();
    }

    private static Map<String, String> context(List<String> inTurn) {
        Map<String, String> context = new HashMap<>();
        for (int i = 0; i + 1 < inTurn.size(); i += 2) {
            context.put(inTurn.get(i), inTurn.get(i + 1));
        }
        return context;
    }

    /** Returns what was submitted with an id, or null. */
    static @Nullable Submitted submitted(Connection connection, String id) throws SQLException {
        return Database.<@Nullable Submitted>statement(connection, SUBMITTED, statement -> {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Submitted(row.getString(1), row.getString(2), row.getBytes(3)) : null;
            }
        });
    }

    /** Inserts the task of a run that has lost it. Returns whether it had. */
    static boolean restore(Connection connection, String id) throws SQLException {
        return Database.update(connection, RESTORE, id) == 1;
    }

    // The claims of workers.

    /**
     * Claims a run for a worker.
     *
     * @param mayBeLost whether to claim it also if it has lost its worker without a record since
     * @return null if it has ended, there is none, or it is not claimed because it has lost its worker
     */
    @Nullable
    Claim claim(String id, String worker, boolean mayBeLost) throws SQLException {
        return database.<@Nullable Claim>statement(CLAIM, statement -> {
            statement.setString(1, worker);
            statement.setString(2, id);
            statement.setBoolean(3, mayBeLost);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new Claim(
                                id,
                                row.getLong(1),
                                row.getBytes(2),
                                EntryRow.texts(row.getArray(5)),
                                row.getBoolean(4),
                                row.getInt(6),
                                row.getString(3),
                                row.getBoolean(7),
                                context(EntryRow.texts(row.getArray(8))))
                        : null;
            }
        });
    }

    /**
     * Ends a claimed run.
     *
     * @return false if it was claimed again
     */
    boolean end(String id, long epoch, int number, Ended end) throws SQLException {
        RecordedFailure failure = end.failure();
        int ended = update(
                END,
                end.status(),
                end.value(),
                failure == null ? null : failure.type(),
                failure == null ? null : JournalWriter.storable(failure.message()),
                failure == null ? null : JournalWriter.storable(failure.trace()),
                JournalWriter.storable(end.problem()),
                id,
                epoch,
                number,
                end.status());
        return ended == 1 || hasEnded(id, epoch); // an earlier attempt may have done it before its connection broke
    }

    /** Runs one statement, which commits itself. */
    private int update(String sql, @Nullable Object... arguments) throws SQLException {
        return database.<Integer>autoCommit(connection -> Database.update(connection, sql, arguments));
    }

    private boolean hasEnded(String id, long epoch) throws SQLException {
        return database.statement(HAS_ENDED, statement -> {
            statement.setString(1, id);
            statement.setLong(2, epoch);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        });
    }

    /** Lets a claimed run wait, because it cannot continue here. */
    void release(String id, long epoch, @Nullable String problem, boolean hasOtherPlan) throws SQLException {
        String status = (hasOtherPlan ? RunState.WITHOUT_VERSION : RunState.WAITING).name();
        String text = JournalWriter.storable(problem);
        database.<Boolean>transaction(connection -> Database.update(connection, RELEASE, status, text, id, epoch) == 1
                && Database.update(connection, FORGET_BEGINS, id, epoch) > 0);
    }

    /** Returns the nodes that the worker of the latest entries was executing, as far as it has recorded that. */
    List<String> lostNodes(String id) throws SQLException {
        return database.statement(LOST_NODES, statement -> {
            statement.setString(1, id);
            List<String> nodes = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    nodes.add(row.getString(1));
                }
            }
            return nodes;
        });
    }

    /**
     * Lets a claimed run be stuck. Its try does not end, so it continues there.
     *
     * @return false if it was claimed again
     */
    boolean stick(String id, long epoch, String problem) throws SQLException {
        int stuck = update(STICK, JournalWriter.storable(problem), id, epoch);
        return stuck == 1 || hasEnded(id, epoch); // an earlier attempt may have done it before its connection broke
    }

    /**
     * Lets a claimed run wait for a time, or for a request, without a worker. If there was a request that the claim has
     * not noticed, the run is due at once.
     *
     * @param version the version of the row of the task when it was picked
     * @param wait the time until the run has to continue
     * @param known the nodes whose signals the claim has delivered
     * @return whether the run waits; false if it is due at once, was claimed again, or is no longer the worker's
     */
    boolean park(String id, long epoch, String taskName, long version, Duration wait, Set<String> known)
            throws SQLException {
        return database.transaction(connection -> {
            Boolean isCancelled = hold(connection, id, epoch);
            if (isCancelled == null) {
                return false;
            }
            boolean isDue = isCancelled || !known.containsAll(signalled(connection, id));
            boolean isForSignal = wait.equals(ChronoUnit.FOREVER.getDuration());
            double seconds = isDue ? -1 : isForSignal ? 0 : wait.toSeconds() + wait.toMillisPart() / 1e3;
            double dueSeconds = isDue
                    ? -1
                    : isForSignal ? (double) LONGEST.toSeconds() : Math.min((double) LONGEST.toSeconds(), seconds);
            int parked = Database.update(connection, PARK_TASK, dueSeconds, taskName, id, version);
            if (parked == 0) {
                return false;
            }
            int waiting = isDue
                    ? Database.update(connection, PARK_NO_LONGER, id)
                    : isForSignal
                            ? Database.update(connection, PARK_FOR_SIGNAL, id)
                            : Database.update(connection, PARK, seconds, id);
            return waiting == 1 && !isDue;
        });
    }

    /** Locks a run. Returns whether it is to be cancelled; null if it has ended, or the claim is not the latest. */
    private static @Nullable Boolean hold(Connection connection, String id, long epoch) throws SQLException {
        return Database.<@Nullable Boolean>statement(connection, HOLD, statement -> {
            statement.setString(1, id);
            statement.setLong(2, epoch);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getBoolean(1) : null;
            }
        });
    }

    private static Set<String> signalled(Connection connection, String id) throws SQLException {
        return Database.statement(connection, SIGNALS, statement -> {
            statement.setString(1, id);
            Set<String> nodes = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    nodes.add(row.getString(1));
                }
            }
            return nodes;
        });
    }

    // Requests of users.

    boolean cancel(String id, String reason) throws SQLException {
        return request(id, CANCEL, JournalWriter.storable(reason), id);
    }

    /**
     * Stores a signal.
     *
     * @param mayBeNested whether the node may be one of a subflow, whose id is then the begin of its path
     */
    boolean signal(String id, String node, byte @Nullable [] value, boolean mayBeNested) throws SQLException {
        return request(id, SIGNAL, value, node, id, mayBeNested);
    }

    /** Removes a signal that its run cannot take, so that another one can be sent, and says so. */
    void refuse(String id, long epoch, String node, String problem) throws SQLException {
        int _ = update(REFUSE, JournalWriter.storable(problem), id, epoch, node);
    }

    /** Locks a run, so that the next statements see all that was recorded. Returns false if it is in another state. */
    private static boolean lock(Connection connection, String id, boolean hasEnded) throws SQLException {
        return Database.statement(connection, LOCK, statement -> {
            statement.setString(1, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1) == hasEnded;
            }
        });
    }

    /** Makes a request, which locks the row of the run, and wakes the run if it waits. Returns whether it was made. */
    private boolean request(String id, String sql, @Nullable Object... arguments) throws SQLException {
        return database.transaction(connection -> {
            boolean isMade = lock(connection, id, false) && Database.update(connection, sql, arguments) == 1;
            if (isMade) {
                int _ = Database.update(connection, WAKE, id);
                int _ = Database.update(connection, WAITS_NO_LONGER, id);
            }
            return isMade;
        });
    }

    /**
     * Lets a run that has ended begin again, or one that is stuck continue if no nodes are named.
     *
     * @param nodes the named nodes
     * @param unsignalled the nodes whose signals are no longer valid, as far as they are known
     * @return false if the run has not ended
     */
    boolean rerun(StoredRun run, Collection<String> nodes, Collection<String> unsignalled) throws SQLException {
        return database.transaction(connection -> {
            if (!lock(connection, run.id(), true)) {
                return false;
            }
            String task = taskName(run.flow(), run.version());
            if (nodes.isEmpty() && Database.update(connection, CONTINUE, run.id(), task) == 1) {
                return true;
            }
            Array named = connection.createArrayOf("text", nodes.toArray());
            Array invalid = connection.createArrayOf("text", unsignalled.toArray());
            return Database.update(connection, RERUN, named, run.id(), invalid, invalid, task) == 1;
        });
    }

    /** Removes the signals of earlier tries to nodes that run again. Called when a try has begun, by its worker. */
    void forgetSignals(String id) throws SQLException {
        int _ = update(FORGET_SIGNALS, id);
    }

    // Watching.

    /** Returns the runs among some that exist. */
    Map<String, Watched> watch(Collection<String> ids) throws SQLException {
        return database.statement(WATCH, statement -> {
            statement.setArray(1, statement.getConnection().createArrayOf("text", ids.toArray()));
            Map<String, Watched> found = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(row.getString(1), new Watched(row.getLong(2), row.getString(3)));
                }
            }
            return found;
        });
    }

    /** Returns the runs among some that exist and have not ended. */
    Set<String> open(Collection<String> ids) throws SQLException {
        return database.statement(OPEN, statement -> {
            statement.setArray(1, statement.getConnection().createArrayOf("text", ids.toArray()));
            Set<String> found = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        });
    }

    /** Returns the nodes to which signals were sent, by the runs among some. */
    Map<String, List<String>> signalled(Collection<String> ids) throws SQLException {
        return database.statement(SIGNALLED, statement -> {
            statement.setArray(1, statement.getConnection().createArrayOf("text", ids.toArray()));
            Map<String, List<String>> found = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.computeIfAbsent(row.getString(1), id -> new ArrayList<>())
                            .add(row.getString(2));
                }
            }
            return found;
        });
    }

    /** Returns the encoded signals that were sent to a run, by their nodes. */
    Map<String, byte @Nullable []> signals(String id) throws SQLException {
        return database.statement(SIGNALS, statement -> {
            statement.setString(1, id);
            Map<String, byte @Nullable []> found = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(row.getString(1), row.getBytes(2));
                }
            }
            return found;
        });
    }

    void seen(String worker, Collection<Registration<?>> registrations) throws SQLException {
        database.statement(SEEN, statement -> {
            for (Registration<?> each : registrations) {
                statement.setString(1, worker);
                statement.setString(2, each.flow());
                statement.setString(3, each.version());
                statement.addBatch();
            }
            return statement.executeBatch();
        });
    }

    void gone(String worker) throws SQLException {
        int _ = update(GONE, worker);
    }
}
