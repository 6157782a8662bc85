package dev.raddle.jdbc;

import dev.raddle.flow.RecordedFailure;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the entries of all runs of this worker, many in one transaction. */
final class JournalWriter implements AutoCloseable {

    /*
     * Overview.
     *
     * One thread takes what waits in the queue, writes it with one statement, which commits itself, and wakes those
     * that wait. What arrives meanwhile waits for the next statement. So a run waits for two commits at most, the disk
     * is forced once for many runs, and entries of one run that were recorded one after the other are never in one
     * statement in the wrong order: the second is queued after the first is durable.
     *
     * The statement is the fence, too. It locks the rows of the runs in a mode that such statements share, and inserts
     * those entries whose epoch is still that of their run. A claim changes the epoch, which waits for the lock here,
     * and reads the entries afterwards. So either the entry is written before the claim and the claimer finds it, or it
     * is not written at all.
     *
     * An end of a node by its timeout is not written if a signal was stored for the node, and not recorded yet: the run
     * continues from its records, and takes the signal.
     *
     * The statement reads signals as of its begin, and locks the rows a moment later. A request that commits in between
     * has changed the row of its run (RunTable.request), so the row that is locked has another `xmin` than the row that
     * the statement sees: its entries are tried again, as those of a locked row.
     *
     * The statement waits for no lock. A row that another transaction has locked, for a claim or for a request of a
     * user, is skipped, and its entries are tried again with a growing pause (`locked`). So a transaction that keeps
     * one row for long delays its run only. After some seconds a line says which session that is.
     *
     * If the database is away, the same statement is tried again until it is back. The connection may have broken after
     * the commit: then the entries are there already. Their primary key, which is chosen here and not by the database,
     * makes the second insert do nothing, and the statement still answers whether the epochs are the right ones.
     */
    private record Column(String name, String type, Function<EntryRow, @Nullable Object> value) {}

    /* The moment and the nodes are texts until they are inserted. */
    private static final List<Column> COLUMNS = List.of(
            new Column("run_id", "text", EntryRow::runId),
            new Column("epoch", "bigint", EntryRow::epoch),
            new Column("number", "int", EntryRow::number),
            new Column("kind", "text", row -> row.kind().name()),
            new Column("node", "text", EntryRow::node),
            new Column("state", "text", EntryRow::state),
            new Column("via", "text", EntryRow::via),
            new Column("count", "int", EntryRow::count),
            new Column("at", "text", row -> text(row.at())),
            new Column("value", "bytea", EntryRow::value),
            new Column("failure_type", "text", row -> failure(row, RecordedFailure::type)),
            new Column("failure_message", "text", row -> failure(row, RecordedFailure::message)),
            new Column("failure_trace", "text", row -> failure(row, RecordedFailure::trace)),
            new Column("nodes", "text", row -> row.nodes().isEmpty() ? null : literal(row.nodes())),
            new Column("place", "bigint", EntryRow::place));

    private static String columns(Function<Column, String> text) {
        return COLUMNS.stream().map(text).collect(Collectors.joining(", "));
    }

    /* Whether an entry says that the time of a node is over, and a signal was stored before. */
    private static final String IS_TOO_LATE = "i.kind = 'NODE' AND (i.state = 'TIMED_OUT' OR i.via = 'DEFAULT')"
            + " AND EXISTS (SELECT 1 FROM raddle_entry d"
            + " WHERE d.run_id = i.run_id AND d.kind = 'DEADLINE' AND d.node = i.node)"
            + " AND EXISTS (SELECT 1 FROM raddle_signal s WHERE s.run_id = i.run_id AND s.sent_at > '-infinity'"
            + " AND (s.node = i.node OR starts_with(s.node, i.node || '/')) AND NOT EXISTS (SELECT 1"
            + " FROM raddle_entry g WHERE g.run_id = s.run_id AND g.kind = 'SIGNAL' AND g.node = s.node))";

    static final String WRITE = "WITH input AS (SELECT * FROM unnest(" + columns(column -> "?::" + column.type + "[]")
            + ") WITH ORDINALITY AS i (" + columns(Column::name) + ", position)),"
            + " locked AS (SELECT id, epoch AS current, xmin AS written FROM raddle_run WHERE id = ANY (?)"
            + " ORDER BY id FOR SHARE SKIP LOCKED),"
            + " held AS (SELECT l.* FROM locked l JOIN raddle_run seen ON seen.id = l.id AND seen.xmin = l.written),"
            + " mine AS (SELECT i.* FROM input i JOIN held h ON h.id = i.run_id AND h.current = i.epoch),"
            + " valid AS (SELECT * FROM mine i WHERE NOT (" + IS_TOO_LATE + ")),"
            + " written AS (INSERT INTO raddle_entry (" + columns(Column::name) + ")"
            + " SELECT "
            + columns(Column::name).replace(" at,", " at::timestamptz,").replace(" nodes,", " nodes::text[],")
            + " FROM valid ORDER BY position ON CONFLICT DO NOTHING)"
            + " SELECT position, 'WRITTEN' FROM valid UNION ALL"
            + " SELECT position, 'SIGNALLED' FROM mine WHERE position NOT IN (SELECT position FROM valid) UNION ALL"
            + " SELECT position, 'LOCKED' FROM input WHERE run_id NOT IN (SELECT id FROM held)"
            + " AND run_id IN (SELECT id FROM raddle_run WHERE id = ANY (?))";

    private static final int MAX_ROWS = 500;
    private static final int MAX_BYTES = 4_000_000;
    private static final long FIRST_PAUSE_MILLIS = 50;
    private static final long LAST_PAUSE_MILLIS = 1_000;
    private static final long FIRST_LOCK_PAUSE_NANOS = 2_000_000;
    private static final long LAST_LOCK_PAUSE_NANOS = 250_000_000;
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    private static final long IDLE_NANOS = 1_000_000_000;
    private static final Logger LOG = LoggerFactory.getLogger(JournalWriter.class);

    /** What a statement has done with rows. */
    enum Outcome {
        WRITTEN,
        /** The epoch of the run is another one, or the writer is closed. */
        FENCED,
        /** The rows say that the time of a node is over, and a signal for it was stored before. */
        SIGNALLED,
        /** Another transaction has locked the row of the run, or has changed it since the statement began. */
        LOCKED
    }

    /** Rows that are written together, or not at all. */
    static final class Pending {
        private final List<EntryRow> rows;
        private final BooleanSupplier isLost;
        private final CountDownLatch done = new CountDownLatch(1);
        private Outcome outcome = Outcome.FENCED; // written before the latch is released
        private @Nullable SQLException failure; // likewise
        private long lockedSince; // 0 if the row of the run was not locked; by the thread, as the next two
        private long lockPause = FIRST_LOCK_PAUSE_NANOS;
        private long nextTry;

        private Pending(List<EntryRow> rows, BooleanSupplier isLost) {
            this.rows = rows;
            this.isLost = isLost;
        }

        private void postpone(long now) {
            lockedSince = lockedSince == 0 ? now : lockedSince;
            nextTry = now + lockPause;
            lockPause = Math.min(2 * lockPause, LAST_LOCK_PAUSE_NANOS);
        }

        private String runId() {
            return rows.getFirst().runId();
        }

        private void end(Outcome reached, @Nullable SQLException reason) {
            outcome = reached;
            failure = reason;
            done.countDown();
        }
    }

    private final Database database;
    private final BlockingQueue<Pending> queue = new LinkedBlockingQueue<>();
    private final List<Pending> locked = new ArrayList<>(); // their rows are locked; confined to the thread
    private final Set<String> reported = new HashSet<>(); // runs with a line about that; likewise
    private final Duration closeWithin;
    private final Thread thread;
    private volatile boolean closed;
    private volatile boolean abandoned; // whether close() has not waited for the end of the thread

    JournalWriter(Database database, String name) {
        this(database, name, CLOSE_WITHIN);
    }

    JournalWriter(Database database, String name, Duration closeWithin) {
        this.database = database;
        this.closeWithin = closeWithin;
        thread = Thread.ofPlatform().daemon().name("raddle-journal-" + name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /**
     * Writes rows of one run, and waits until they are durable, also while the database is away. An interrupt does not
     * end the wait; it is preserved.
     *
     * @param isLost whether the run need not be written any more, asked while the database is away
     * @return what was done; nothing was written unless that says so
     * @throws SQLException if the database refuses the rows
     */
    Outcome write(List<EntryRow> rows, BooleanSupplier isLost) throws SQLException {
        Pending pending = new Pending(List.copyOf(rows), isLost);
        if (closed) {
            return Outcome.FENCED;
        }
        queue.add(pending);
        boolean interrupted = false;
        while (true) {
            try {
                if (pending.done.await(1, TimeUnit.SECONDS) || hasEnded()) {
                    break;
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (pending.failure != null) {
            throw pending.failure;
        }
        return pending.outcome;
    }

    private boolean hasEnded() {
        return closed && (abandoned || !thread.isAlive());
    }

    private void run() {
        List<Pending> batch = new ArrayList<>();
        while (!closed || !queue.isEmpty()) {
            try {
                Pending first = queue.poll(nanosUntilRetry(), TimeUnit.NANOSECONDS);
                takeDue(batch);
                fill(batch, first);
                if (!batch.isEmpty()) {
                    writeUntilDone(batch);
                    batch.clear();
                }
                reportLocked();
            } catch (InterruptedException closing) {
                // the condition ends the loop
            } catch (Throwable failure) {
                for (Pending each : batch) {
                    each.end(
                            Outcome.FENCED,
                            new SQLException("the writer of the journal has failed: " + failure, failure));
                }
                batch.clear();
            }
        }
        locked.forEach(each -> each.end(Outcome.FENCED, null));
    }

    private long nanosUntilRetry() {
        long now = System.nanoTime();
        long nanos = IDLE_NANOS;
        for (Pending each : locked) {
            nanos = Math.min(nanos, each.nextTry - now);
        }
        return nanos;
    }

    /** Moves the entries to the batch whose next try is due. */
    private void takeDue(List<Pending> batch) {
        if (locked.isEmpty()) {
            return;
        }
        dropLost(locked);
        long now = System.nanoTime();
        for (Pending each : locked) {
            if (each.nextTry - now <= 0 && batch.size() < MAX_ROWS) {
                batch.add(each);
            }
        }
        locked.removeAll(batch);
    }

    /** Says once for each run that is locked for long which session has locked it. */
    private void reportLocked() {
        if (locked.isEmpty()) {
            reported.clear();
            return;
        }
        long now = System.nanoTime();
        for (Pending each : locked) {
            if (now - each.lockedSince > RowLock.LONG.toNanos() && reported.add(each.runId())) {
                try {
                    String problem = RowLock.ofRun(database, each.runId());
                    LOG.warn("run \"{}\" cannot record: {}", each.runId(), problem == null ? RowLock.UNKNOWN : problem);
                } catch (SQLException away) {
                    LOG.debug("the session that has locked run \"{}\" is unknown", each.runId(), away);
                }
            }
        }
    }

    private void fill(List<Pending> batch, @Nullable Pending first) {
        int rows = 0;
        int bytes = 0;
        for (Pending next = first; next != null; next = rows < MAX_ROWS && bytes < MAX_BYTES ? queue.poll() : null) {
            batch.add(next);
            rows += next.rows.size();
            bytes += next.rows.stream().mapToInt(EntryRow::size).sum();
        }
    }

    private void writeUntilDone(List<Pending> batch) {
        long pause = FIRST_PAUSE_MILLIS;
        while (true) {
            try {
                write(batch);
                return;
            } catch (SQLException failure) {
                if (!Database.isTemporary(failure)) {
                    refuse(batch, failure);
                    return;
                }
                dropLost(batch);
                if (batch.isEmpty()) {
                    return;
                }
                pause(pause);
                pause = Math.min(2 * pause, LAST_PAUSE_MILLIS);
            }
        }
    }

    /** The database refuses something in the batch: writes each part alone, so that the others do not suffer. */
    private void refuse(List<Pending> batch, SQLException failure) {
        if (batch.size() == 1) {
            batch.getFirst().end(Outcome.FENCED, failure);
            return;
        }
        for (Pending each : batch) {
            writeUntilDone(new ArrayList<>(List.of(each)));
        }
    }

    private void dropLost(List<Pending> batch) {
        batch.removeIf(each -> {
            boolean isLost = closed || each.isLost.getAsBoolean();
            if (isLost) {
                each.end(Outcome.FENCED, null);
            }
            return isLost;
        });
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException closing) {
            // the caller looks whether this writer is closed
        }
    }

    private void write(List<Pending> batch) throws SQLException {
        List<EntryRow> rows = batch.stream().flatMap(each -> each.rows.stream()).toList();
        Outcome[] outcomes = database.statement(WRITE, statement -> {
            bind(statement, rows);
            Outcome[] found = new Outcome[rows.size()];
            Arrays.fill(found, Outcome.FENCED);
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    found[result.getInt(1) - 1] = Outcome.valueOf(result.getString(2));
                }
            }
            return found;
        });
        long now = System.nanoTime();
        int next = 0;
        for (Pending each : batch) {
            next += each.rows.size();
            Outcome outcome = outcomes[next - 1]; // the rows have one run and epoch, and the last is no WORK
            if (outcome == Outcome.LOCKED) {
                each.postpone(now);
                locked.add(each);
            } else {
                each.end(outcome, null);
            }
        }
    }

    private static void bind(PreparedStatement statement, List<EntryRow> rows) throws SQLException {
        Connection connection = statement.getConnection();
        int index = 1;
        for (Column column : COLUMNS) {
            @Nullable
            Object[] values = rows.stream()
                    .map(column.value)
                    .toArray(column.type.equals("bytea") ? byte[][]::new : Object[]::new); // else bytes become an array
            statement.setArray(index, connection.createArrayOf(column.type, values));
            index++;
        }
        String[] ids = rows.stream().map(EntryRow::runId).distinct().toArray(String[]::new);
        statement.setArray(index, connection.createArrayOf("text", ids));
        statement.setArray(index + 1, connection.createArrayOf("text", ids));
    }

    private static @Nullable String text(@Nullable Instant moment) {
        return moment == null ? null : moment.toString();
    }

    private static @Nullable String failure(EntryRow row, Function<RecordedFailure, @Nullable String> part) {
        return row.failure() == null ? null : storable(part.apply(row.failure()));
    }

    /** Replaces what PostgreSQL cannot store in a text: the character zero, and halves of surrogate pairs. */
    static @Nullable String storable(@Nullable String text) {
        return text == null
                ? null
                : new String(text.replace('\0', '?').getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    /** Returns the text of an array, since an array of arrays would be taken apart. */
    private static String literal(List<String> texts) {
        StringBuilder literal = new StringBuilder("{");
        for (String text : texts) {
            literal.append(literal.length() == 1 ? "\"" : ",\"");
            literal.append(text.replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
        }
        return literal.append('}').toString();
    }

    /**
     * Ends the thread when it has written what waits, or at once while the database is away. A thread that waits for a
     * connection is left after a time; whatever it writes then is fenced like everything else.
     */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        long until = System.nanoTime() + closeWithin.toNanos();
        boolean interrupted = false;
        while (thread.isAlive() && !abandoned) {
            try {
                abandoned = !thread.join(Duration.ofNanos(Math.max(1, until - System.nanoTime())));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (abandoned) {
            LOG.warn("{} still waits for the data source and is left behind", thread.getName());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
