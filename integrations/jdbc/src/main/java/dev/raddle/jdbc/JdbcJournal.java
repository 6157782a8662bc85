package dev.raddle.jdbc;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FencedException;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.ValueSource;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The journal of one claim of a run. */
final class JdbcJournal implements FlowJournal {

    /*
     * Overview.
     *
     * Entries are numbered in the order of the calls and written by the JournalWriter, or, if the action of the node
     * has asked for the connection, by the NodeTransaction. The end of the run is not written here: it is part of the
     * one statement that also sets the state and the value of the run (RunTable.end), since a run whose end was
     * recorded would begin another try if its process ended before the state was set.
     *
     * A connection is handed out for an attempt of a node of this run, or to compensate it, only, from `attemptBegan`
     * until its end is recorded or `attemptEnded` is called, in the thread of the action and for its context. So not
     * for a node of a nested plan with the same id, in a condition, a callback, a fallback, a default or a thread that
     * the action has started. Only the thread of the action touches its transaction, which ends and returns its
     * connection to the pool
     *
     *   when the end of the node is recorded     by a commit if it is the success of the action, else by a rollback
     *   when it is recorded as compensated       by a commit
     *   when a failed attempt is recorded        by a rollback, before the next attempt or the fallback
     *   otherwise in attemptEnded                by a rollback: the node was ended meanwhile by a timeout or a cancel,
     *                                            or the run is lost
     *
     * attemptEnded is called after each attempt, whatever happens, and last. A transaction whose connection breaks is
     * no failure of the node; the run is given up with a `problem`, and continued from its records after a delay.
     *
     * `lost` is set once, when a write finds another epoch or the worker gives the run up. Nothing is written after
     * that, whether or not the epoch is still the same.
     */

    /** The journal of the run whose action, callback or compensation the thread executes. */
    static final ScopedValue<JdbcJournal> CURRENT = ScopedValue.newInstance();

    private static final String SENT =
            "SELECT node, value FROM raddle_signal WHERE run_id = ? AND sent_at > '-infinity' ORDER BY node";

    private static final String READ =
            "SELECT epoch, number, " + EntryRow.COLUMNS + " FROM raddle_entry WHERE run_id = ? ORDER BY epoch, number";

    private final Database database;
    private final JournalWriter writer;
    private final DatabaseClock clock;
    private final EntryRow.Maker maker;
    private final Duration maxIdle; // of transactions of nodes
    private final Set<String> nodes; // of the plan, without those of nested plans
    private final boolean wasLost;
    private final BiConsumer<String, @Nullable Object> signalCheck; // throws if the plan cannot take a signal
    private final AtomicInteger nextNumber = new AtomicInteger();
    private final Map<String, NodeAttempt> attempts = new ConcurrentHashMap<>(); // those under way, by node
    private volatile @Nullable EntryRow work; // to be written with the first entry
    private volatile @Nullable String lost; // the reason
    private volatile @Nullable String problem; // the reason why the run must continue, if it may be a lasting one
    private volatile boolean hasAdvanced; // whether this claim has recorded that something ended
    private volatile boolean mustContinue; // whether the run was lost without another claim
    private volatile int claimsInVain; // the number of claims since the latest entry was recorded, without this one
    private volatile @Nullable Runnable delivery; // delivers the signals that were sent; null before the run has begun
    private volatile int endNumber = -1;
    private volatile long activeAt = System.nanoTime(); // the latest moment at which something was recorded

    JdbcJournal(
            Database database,
            JournalWriter writer,
            DatabaseClock clock,
            EntryRow.Maker maker,
            Set<String> nodes,
            BiConsumer<String, @Nullable Object> signalCheck,
            Duration maxIdle,
            boolean wasLost) {
        this.database = database;
        this.writer = writer;
        this.clock = clock;
        this.maker = maker;
        this.nodes = Set.copyOf(nodes);
        this.signalCheck = signalCheck;
        this.maxIdle = maxIdle;
        this.wasLost = wasLost;
    }

    String runId() {
        return maker.runId();
    }

    long epoch() {
        return maker.epoch();
    }

    // Reading.

    @Override
    public List<Entry> open(Work work) throws SQLException, IOException {
        ensureHeld();
        List<EntryRow> rows = database.statement(READ, statement -> {
            statement.setString(1, runId());
            List<EntryRow> found = new ArrayList<>();
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    found.add(read(result));
                }
            }
            return found;
        });
        long latest = rows.isEmpty() ? 0 : rows.getLast().epoch();
        claimsInVain = (int) Math.min(Integer.MAX_VALUE, Math.max(0, epoch() - latest - 1));
        List<Entry> entries = new ArrayList<>(rows.size());
        EntryRow bound = null;
        for (EntryRow row : rows) {
            if (row.kind() == EntryRow.Kind.WORK) {
                bound = row;
            } else {
                entries.add(row.entry(maker.values()));
            }
        }
        if (bound != null && bound.node() != null) {
            requireSamePlan(bound.node(), work);
        } else {
            this.work = maker.work(nextNumber.getAndIncrement(), work.plan());
        }
        addSent(entries);
        return entries;
    }

    /** Everything else of the work follows from the row of the run. */
    private void requireSamePlan(String plan, Work work) {
        if (!plan.equals(work.plan())) {
            throw new OtherPlanException("run \"" + runId() + "\" began with another plan of flow \"" + work.flow()
                    + "\", with other nodes or dependencies, under the same version; register each plan under a version"
                    + " of its own, and the plan of this run under its version until it has ended");
        }
    }

    /**
     * Adds the signals that were sent to nodes whose time is recorded, perhaps while no worker had the run. Each was
     * sent before that time was over, so it counts also if it is over now. Those of an earlier try are not added; other
     * signals are delivered when the run has begun.
     */
    private void addSent(List<Entry> entries) throws SQLException {
        Set<String> timed = entries.stream()
                .flatMap(entry -> entry instanceof Entry.DeadlineSet limit ? Stream.of(limit.id()) : Stream.empty())
                .collect(Collectors.toSet());
        if (timed.isEmpty()) {
            return;
        }
        database.statement(SENT, statement -> {
            statement.setString(1, runId());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String node = row.getString(1);
                    if (timed.contains(node) || timed.stream().anyMatch(limit -> node.startsWith(limit + "/"))) {
                        addSent(entries, node, row.getBytes(2));
                    }
                }
                return entries;
            }
        });
    }

    private void addSent(List<Entry> entries, String node, byte @Nullable [] value) {
        try {
            Object decoded = maker.values().decode(value);
            signalCheck.accept(node, decoded);
            entries.add(new Entry.SignalReceived(node, decoded));
        } catch (IOException | IllegalArgumentException refused) {
            // the thread that delivers signals reports it
        }
    }

    @Override
    public boolean wasLost() {
        return wasLost;
    }

    private EntryRow read(ResultSet row) throws SQLException {
        try {
            return EntryRow.read(runId(), row);
        } catch (IOException unknown) {
            throw new SQLException(unknown.getMessage(), unknown);
        }
    }

    // Writing.

    @Override
    public void record(Entry entry) throws SQLException, IOException {
        ensureHeld();
        activeAt = System.nanoTime();
        if (entry instanceof Entry.RunEnded) {
            hasAdvanced = true;
            endNumber = nextNumber.getAndIncrement();
            return;
        }
        if (entry instanceof Entry.NodeEnded end) {
            NodeTransaction open = endAttempt(end.id());
            boolean isOfAction = end.state() == NodeState.SUCCESS && end.via() == ValueSource.ACTION;
            if (open != null && isOfAction) {
                commit(open, end);
                return;
            }
            rollBack(open);
        } else if (entry instanceof Entry.Compensated done) {
            NodeTransaction open = endAttempt(done.id());
            if (open != null) {
                commit(open, done);
                return;
            }
        } else if (entry instanceof Entry.AttemptFailed failed) {
            rollBack(endAttempt(failed.id()));
        } else if (entry instanceof Entry.CompensationAttemptFailed failed) {
            rollBack(endAttempt(failed.id()));
        }
        write(rowOf(entry));
    }

    private EntryRow rowOf(Entry entry) throws IOException {
        EntryRow row = maker.row(nextNumber.getAndIncrement(), entry);
        hasAdvanced |= row.isProgress();
        return row;
    }

    private void commit(NodeTransaction open, Entry end) throws SQLException, IOException {
        EntryRow row;
        try {
            row = rowOf(end);
            flushWork();
        } catch (Throwable failure) { // also an Error of the codec
            open.rollBack();
            throw failure;
        }
        try {
            open.commit(row);
        } catch (FencedException fenced) {
            String reason = String.valueOf(fenced.getMessage());
            if (fenced.getCause() == null) {
                giveUp(reason, false);
            } else {
                giveUpBroken(reason);
            }
            throw fenced;
        }
    }

    /**
     * Ends the transaction of an action that has failed. If it failed because the database went away, that is no
     * failure of the node: the run is continued from its records.
     */
    private void rollBack(@Nullable NodeTransaction open) {
        if (open == null) {
            return;
        }
        boolean isBroken = open.isBroken();
        open.rollBack();
        if (isBroken) {
            giveUpBroken(open.problem(null));
            ensureHeld();
        }
    }

    /** Writes the binding to the plan, if no entry has brought it along. */
    private void flushWork() throws SQLException {
        EntryRow first = takeWork();
        if (first != null) {
            write(List.of(first));
        }
    }

    private synchronized @Nullable EntryRow takeWork() {
        EntryRow first = work;
        work = null;
        return first;
    }

    private void write(EntryRow row) throws SQLException {
        EntryRow first = takeWork();
        write(first == null ? List.of(row) : List.of(first, row));
    }

    private void write(List<EntryRow> rows) throws SQLException {
        JournalWriter.Outcome outcome = writer.write(rows, () -> lost != null);
        if (outcome == JournalWriter.Outcome.SIGNALLED) {
            giveUp("a signal was stored before a timeout was recorded", true);
        } else if (outcome != JournalWriter.Outcome.WRITTEN) {
            giveUp("it was claimed again after epoch " + epoch(), false);
        }
        if (outcome != JournalWriter.Outcome.WRITTEN) {
            ensureHeld();
        }
    }

    // Losing the run.

    /**
     * Makes this journal refuse everything from now on.
     *
     * @param again whether this worker still holds the claim, and has to return it
     */
    void giveUp(String reason, boolean again) {
        if (lost == null) {
            mustContinue = again;
            lost = reason;
        }
    }

    /** Makes this journal refuse everything; the run continues from its records, after a delay since this may last. */
    private void giveUpBroken(String reason) {
        if (lost == null) {
            problem = reason;
            giveUp(reason, true);
        }
    }

    /** Returns why the run must continue, or null if it can do so at once. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Returns the number of claims before this one that have recorded nothing. */
    int claimsInVain() {
        return claimsInVain;
    }

    /** Returns whether the run was given up although no other worker has claimed it. */
    boolean mustContinue() {
        return mustContinue;
    }

    boolean isLost() {
        return lost != null;
    }

    private void ensureHeld() {
        String reason = lost;
        if (reason != null) {
            throw new FencedException("run \"" + runId() + "\" is lost: " + reason);
        }
    }

    /** Returns whether nothing was recorded for a time. */
    boolean isQuietFor(Duration time) {
        return Duration.ofNanos(System.nanoTime() - activeAt).compareTo(time) >= 0;
    }

    boolean hasAdvanced() {
        return hasAdvanced;
    }

    /** Returns whether the run has ended and its records are complete. */
    boolean hasEnd() {
        return endNumber >= 0;
    }

    /** Reserves the entry for the end of a run that cannot begin. */
    void endUnstarted() {
        endNumber = nextNumber.getAndIncrement();
    }

    /** Returns the number of the entry for the end of the run, if {@link #hasEnd}. */
    int endNumber() {
        return endNumber;
    }

    // Attempts and their connections.

    /** Sets what delivers the signals that were sent to the run. */
    void setDelivery(Runnable delivers) {
        delivery = delivers;
    }

    /** A time source of the user has moments of its own. */
    @Override
    public Instant instant(TimeSource ofRun) {
        return ofRun == TimeSource.system() ? clock.now() : ofRun.instant();
    }

    @Override
    public void timePassed(String id) {
        Runnable delivers = delivery;
        if (delivers != null) {
            delivers.run();
        }
    }

    @Override
    public void attemptBegan(NodeContext<?> context) {
        attempts.put(context.id(), new NodeAttempt(context));
    }

    @Override
    public void attemptReturned(String id) throws SQLException {
        NodeAttempt attempt = attempts.get(id);
        if (attempt != null) {
            attempt.verify();
        }
    }

    @Override
    public boolean hasRolledBack(String id) {
        NodeAttempt attempt = attempts.get(id);
        return attempt != null && attempt.hadTransaction();
    }

    @Override
    public void attemptEnded(String id) {
        NodeAttempt attempt = attempts.get(id);
        if (attempt != null && attempt.isOfThisThread()) { // its compensation may have begun in another one
            attempts.remove(id, attempt);
            attempt.rollBack(); // unless its end was recorded
        }
    }

    /** Returns the transaction of an attempt whose end is being recorded. */
    private @Nullable NodeTransaction endAttempt(String node) {
        NodeAttempt attempt = attempts.get(node);
        return attempt == null ? null : attempt.end();
    }

    /** Returns the connection of the transaction in which the end of a node will be recorded. */
    Connection connectionOf(NodeContext<?> context) throws SQLException {
        ensureHeld();
        NodeAttempt attempt = attempts.get(context.id());
        if (attempt == null || !attempt.isOf(context)) {
            String reason = nodes.contains(context.id())
                    ? "its action is not under way in this thread"
                    : "it belongs to a nested plan, whose nodes are not recorded";
            throw new IllegalStateException("node \"" + context.id() + "\" has no connection here: " + reason
                    + "; ask for it in the action of a node of the outer plan, in its thread and before it returns");
        }
        return attempt.transaction(this::begin).connection();
    }

    private NodeTransaction begin(String node) throws SQLException {
        try {
            return NodeTransaction.begin(database, node, maxIdle);
        } catch (SQLException failure) {
            if (!Database.isTemporary(failure)) {
                throw failure;
            }
            giveUpBroken("node \"" + node + "\" found no connection and runs again: " + failure.getMessage());
            FencedException away =
                    new FencedException("node \"" + node + "\" found no connection and has to run again");
            away.initCause(failure);
            throw away;
        }
    }

    @Override
    public String toString() {
        return "journal of run \"" + runId() + "\", epoch " + epoch();
    }
}
