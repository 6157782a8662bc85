package dev.raddle.jdbc;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RecordedNode;
import dev.raddle.flow.RecordedRun;
import dev.raddle.flow.RunOptions;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps runs of flows in a PostgreSQL database and executes them in this process. Any number of processes may have a
 * service on the same database; when one of them ends or stops, others take its runs over.
 *
 * {@snippet :
 * try (FlowService service = FlowService.on(dataSource)
 *         .register(checkout, "1", codec)
 *         .applySchema()
 *         .start()) {
 *     service.submit("checkout", "order-17", order);
 *     StoredRun run = service.await("order-17");
 * }
 * }
 *
 * <p>A run keeps the version of its flow that it was submitted with. A service executes runs of the versions that it
 * has registered; a service without any can be used to look at runs, to cancel them and to run them again.
 *
 * <p>No method writes a parameter or a value of a run to the log. The methods throw {@link DatabaseException} if the
 * database is unavailable.
 */
public final class FlowService implements AutoCloseable {

    private static final int MAX_ID = 200;
    private static final int MAX_NAME = 150; // of a schedule; its runs have a moment behind it
    private static final Duration MAX_INTERVAL = Duration.ofHours(1);
    private static final int MAX_MISSED = 10_000;
    private static final int CONNECTIONS = 8; // those of nodes come on top
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(FlowService.class);
    private static final Duration LONGEST = Duration.ofDays(36_500); // what the database and clocks can add to a moment

    private final String name;
    private final Database database;
    private final RunTable runs;
    private final RunQueries queries;
    private final ScheduleTable schedules;
    private final Map<String, Registration<?>> registrations; // by the names of their tasks
    private final Map<String, Registration<?>> newest; // by flow
    private final JournalWriter writer;
    private final @Nullable Worker worker; // null if this service executes nothing
    private final Watch watch;
    private final Duration closeTimeout;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private FlowService(Builder builder) throws SQLException {
        database = new Database(builder.source);
        runs = new RunTable(database);
        queries = new RunQueries(database);
        schedules = new ScheduleTable(database);
        registrations = Map.copyOf(builder.registrations);
        newest = Map.copyOf(builder.newest);
        ServiceSettings settings = builder.settings();
        name = settings.name();
        closeTimeout = settings.closeTimeout();
        Schema schema = new Schema(database);
        if (builder.appliesSchema) {
            schema.apply();
        } else {
            schema.verify();
        }
        writer = new JournalWriter(database, settings.name());
        if (registrations.isEmpty() || builder.submitsOnly) {
            worker = null;
            watch = new Watch(runs, List.of(), null, Map.of(), settings);
        } else {
            DatabaseClock clock = new DatabaseClock(database);
            worker = new Worker(
                    database, runs, writer, settings, registrations, clock, this::mayHaveEnded, this::awaited);
            watch = new Watch(runs, registrations.values(), clock, worker.claimed(), settings);
        }
        begin(settings);
    }

    private void begin(ServiceSettings settings) throws SQLException {
        watch.start(settings.pollInterval());
        if (worker != null) {
            checkConnections();
            writer.start();
            worker.start();
        }
    }

    /** Warns of a pool in which heartbeats would wait for the connections of nodes. */
    private void checkConnections() {
        try {
            int found = database.available(CONNECTIONS, PATIENCE);
            if (found < CONNECTIONS) {
                LOG.warn(
                        "the data source had {} of {} connections within {} s; a service needs {}, and one more for"
                                + " each node that uses JdbcNodes.connection at a time. With fewer, heartbeats may be"
                                + " late, and runs be taken over",
                        found,
                        CONNECTIONS,
                        PATIENCE.toSeconds(),
                        CONNECTIONS);
            }
        } catch (InterruptedException later) {
            Thread.currentThread().interrupt();
        }
    }

    private void mayHaveEnded(String id) {
        watch.ended(id);
    }

    private Set<String> awaited() {
        return watch.awaited();
    }

    /**
     * Returns a builder of a service.
     *
     * @param source the data source, usually a pool, which the caller closes after the service; a service needs about
     *     as many connections as runs that use {@link JdbcNodes#connection} at the same time, and eight more
     * @return a new builder
     */
    public static Builder on(DataSource source) {
        return new Builder(source);
    }

    // Submitting.

    /**
     * Stores a run, unless it was stored before: the same id, flow and parameter may be submitted any number of times,
     * at the same time, too. The run has the version of the flow that was registered last. A run whose row in
     * {@code raddle_task} was deleted by hand, so that no worker finds it, is found again after it was submitted again.
     *
     * <p>The nodes of the run, its callbacks and compensations have the context of this call, in every process: the
     * propagators of the registered options {@linkplain dev.raddle.task.ContextPropagator#save save} it with the run.
     *
     * @param flow the name of the flow
     * @param runId the id of the run, at most {@value #MAX_ID} characters, unique in the database
     * @param parameter the parameter of the run, may be null
     * @return whether the run was stored now
     * @throws IllegalArgumentException if another run has the id, if the flow is not registered here, or if the
     *     parameter cannot be stored; the message has the difference
     * @throws IllegalStateException if this service is closed
     */
    public boolean submit(String flow, String runId, @Nullable Object parameter) {
        ensureOpen(runId);
        Submission submission = submission(flow, runId, parameter);
        boolean isNew = attempt("submit run \"" + runId + "\"", () -> store(submission));
        checkIf(true); // a run that was stored before may have been restored
        return isNew;
    }

    private boolean store(Submission submission) throws SQLException {
        try {
            return database.<Boolean>autoCommit(submission::store);
        } catch (SQLException failure) {
            if (!Submission.MEANWHILE.equals(failure.getSQLState())) {
                throw failure;
            }
            return database.<Boolean>autoCommit(submission::store);
        }
    }

    /**
     * Stores a run in a transaction of the caller: it exists if and only if that is committed.
     *
     * @param connection a connection to the same database, inside a transaction
     * @param flow the name of the flow
     * @param runId the id of the run
     * @param parameter the parameter of the run, may be null
     * @return whether the run was stored now
     * @throws IllegalArgumentException as {@link #submit(String, String, Object)} does
     * @throws IllegalStateException if this service is closed
     * @throws SQLException if the database refuses the statement; the transaction has then failed
     */
    public boolean submit(Connection connection, String flow, String runId, @Nullable Object parameter)
            throws SQLException {
        ensureOpen(runId);
        return submission(flow, runId, parameter).store(connection);
    }

    private void ensureOpen(String runId) {
        if (isClosed.get()) {
            throw new IllegalStateException(
                    "the service is closed, and run \"" + runId + "\" was not submitted; submit runs before close()");
        }
    }

    private Submission submission(String flow, String runId, @Nullable Object parameter) {
        Registration<?> registration = newest.get(Objects.requireNonNull(flow, "flow"));
        if (registration == null) {
            throw new IllegalArgumentException("flow \"" + flow + "\" is not registered here; the service has "
                    + newest.keySet().stream().sorted().toList());
        }
        checkId(runId);
        return Submission.of(registration, runId, parameter);
    }

    private static void checkId(String runId) {
        Texts.requireKey("the id of a run", runId, MAX_ID);
    }

    // Schedules.

    /**
     * Submits a run of a plan at each moment of a schedule, once, however many services have it. Its id is the name and
     * the moment in UTC: {@code nightly/2026-11-29T02:00:00Z}. Call this after each start; the schedule is kept in the
     * database, and its rounds are submitted by any service that has called this and has a free place for a run.
     *
     * {@snippet :
     * service.schedule("nightly", report, Schedule.cron("0 3 * * *", zone), moment -> moment.toLocalDate());
     * }
     *
     * <p>If several moments have passed before a round could be submitted, the latest is. If the function throws, or
     * the parameter cannot be stored, the round keeps its moment and is tried again, after a second at first, and after
     * a minute at last; {@link StoredSchedule#problem} says why. The latest call of any service determines the moments:
     * of another expression or zone, those after the call; a round that is due then keeps its moment.
     *
     * @param <P> the type of the parameter
     * @param name the name, at most {@value #MAX_NAME} characters, unique in the database
     * @param plan a plan that is registered here, in the version of new runs
     * @param schedule the moments
     * @param parameter returns the parameter of the run of a moment, which is in the zone of the schedule; may be
     *     called several times for a moment, in any service
     * @throws IllegalArgumentException if the name is that of a schedule of another flow, or the plan is not that of
     *     new runs here
     * @throws IllegalStateException if this service executes no runs, or is closed
     */
    public <P> void schedule(
            String name,
            FlowPlan<P, ?> plan,
            Schedule schedule,
            Function<ZonedDateTime, ? extends @Nullable P> parameter) {
        Objects.requireNonNull(parameter, "parameter");
        Texts.requireKey("the name of a schedule", name, MAX_NAME);
        if (isClosed.get() || worker == null) {
            throw new IllegalStateException("schedule \"" + name
                    + "\" needs a service that executes runs, and this one "
                    + (isClosed.get() ? "is closed" : "executes none; register flows, and leave out submitOnly()"));
        }
        Registration<?> registration = newest.get(plan.name());
        if (registration == null || registration.plan() != plan) {
            throw new IllegalArgumentException(
                    "the plan of schedule \"" + name + "\" must be that of new runs, and flow \""
                            + plan.name() + "\" "
                            + (registration == null
                                    ? "is not registered here; call register(plan, …) before start()"
                                    : "has another plan in version " + registration.version() + "; pass that one"));
        }
        Rounds rounds = worker.rounds();
        attempt("store schedule \"" + name + "\"", () -> {
            rounds.put(name, registration, schedule, moment -> parameter.apply(moment));
            return true;
        });
    }

    /**
     * Returns all schedules, those that are paused last, else the next round first.
     *
     * @return the schedules in the database, whichever service has stored them
     */
    public List<StoredSchedule> schedules() {
        return attempt("list schedules", schedules::list);
    }

    /**
     * Pauses a schedule for all services, until it is resumed. Runs that were submitted go on. A restart does not
     * resume it.
     *
     * @param name the name
     * @throws NoSuchElementException if there is no such schedule
     */
    public void pauseSchedule(String name) {
        boolean isPaused = attempt("pause schedule \"" + name + "\"", () -> schedules.pause(name));
        if (!isPaused) {
            throw noSchedule(name);
        }
    }

    /**
     * Resumes a schedule: its next round is that of the first moment from now on. No effect if it is not paused.
     *
     * @param name the name
     * @throws NoSuchElementException if there is no such schedule
     */
    public void resumeSchedule(String name) {
        ScheduleTable.Row row;
        do { // again if its moments were changed meanwhile
            row = attempt("read schedule \"" + name + "\"", () -> schedules.find(name));
            if (row == null) {
                throw noSchedule(name);
            }
        } while (row.isPaused() && !resume(row));
    }

    private boolean resume(ScheduleTable.Row row) {
        return attempt("resume schedule \"" + row.name() + "\"", () -> schedules.resume(row));
    }

    private static NoSuchElementException noSchedule(String name) {
        return new NoSuchElementException("there is no schedule \"" + name + "\"; schedules() has those that exist");
    }

    /**
     * Removes a schedule for all services; runs that were submitted go on. Needed when no service calls
     * {@link #schedule} with the name any more: a service that is started and does stores it again.
     *
     * @param name the name
     * @return false if there was none
     */
    public boolean removeSchedule(String name) {
        return attempt("remove schedule \"" + name + "\"", () -> schedules.remove(name));
    }

    // Looking.

    /**
     * Returns the state of a run.
     *
     * @param runId the id of the run
     * @return the run; empty if there is none, or if it ended longer ago than the retention
     */
    public Optional<StoredRun> status(String runId) {
        checkId(runId);
        return Optional.ofNullable(attempt("read run \"" + runId + "\"", () -> queries.find(runId)));
    }

    /**
     * Returns runs, the newest first.
     *
     * @param filter the selection
     * @return at most as many runs as the filter permits
     * @throws NoSuchElementException if the run was removed {@linkplain RunFilter#after after which} the page begins
     */
    public List<StoredRun> list(RunFilter filter) {
        return attempt("list runs", () -> queries.list(filter));
    }

    /**
     * Counts runs by their states.
     *
     * @param filter the selection; at most as many runs are counted as it permits, the newest first
     * @return the numbers; a state that no run has is missing
     * @throws NoSuchElementException as {@link #list} does
     */
    public Map<RunState, Integer> count(RunFilter filter) {
        return Collections.unmodifiableMap(attempt("count runs", () -> queries.count(filter)));
    }

    /**
     * Returns what this service does at the moment. The database is not asked.
     *
     * @return the statistics
     */
    public FlowServiceStats stats() {
        return new FlowServiceStats(
                name,
                isClosed.get(),
                watch.isDatabaseAvailable(),
                worker == null ? List.of() : worker.executing(),
                worker == null ? List.of() : worker.givenUp());
    }

    /**
     * Returns the journal of a run, oldest entry first, without values. No codec is needed.
     *
     * @param runId the id of the run
     * @return the entries; none if nothing was recorded yet, or if there is no such run
     */
    public List<StoredEntry> entries(String runId) {
        checkId(runId);
        return attempt("read the journal of run \"" + runId + "\"", () -> queries.entries(runId));
    }

    /**
     * Returns what a journal says about its run: the states of all nodes, and for what they wait, if the version of the
     * run is registered here, else what is recorded. The database is not asked. Values are null.
     *
     * @param run the run
     * @param entries its journal, as {@link #entries} returns it
     * @return what is recorded, and what follows from it by the plan and its options
     * @throws IllegalArgumentException if entries are missing
     */
    public RecordedRun recorded(StoredRun run, List<StoredEntry> entries) {
        List<Entry> known =
                entries.stream().flatMap(each -> each.entry().stream()).toList();
        RecordedRun alone = RecordedRun.of(known);
        Registration<?> registration = registrations.get(RunTable.taskName(run.flow(), run.version()));
        if (registration == null) {
            return alone;
        }
        boolean isItsPlan = alone.nodes().stream()
                .filter(RecordedNode::isRecorded)
                .allMatch(node -> registration.nodes().contains(node.id()));
        return isItsPlan ? RecordedRun.of(known, registration.plan(), registration.options()) : alone;
    }

    /**
     * Returns a plan that is registered here. The database is not asked.
     *
     * @param flow the name of the flow
     * @param version the version
     * @return the plan; empty if this service has not registered the version
     */
    public Optional<FlowPlan<?, ?>> plan(String flow, String version) {
        return Optional.ofNullable(registrations.get(RunTable.taskName(flow, version)))
                .map(Registration::plan);
    }

    /**
     * Returns the value of a run that has succeeded. The version of its flow must be registered here. The values of
     * several outputs are decoded one by one, and so are the elements of a list that the codec cannot encode.
     *
     * @param runId the id of the run
     * @return the value of the plan's output, null if it has none
     * @throws NoSuchElementException if there is no such run
     * @throws IllegalStateException if the run has not ended with a value; the message has its state, or the reason why
     *     a run that has succeeded has no value: its output was skipped, or has a default that cannot be stored
     */
    public @Nullable Object value(String runId) {
        StoredRun run = existing(runId);
        if (run.state() != RunState.SUCCESS && run.state() != RunState.DEGRADED) {
            throw new IllegalStateException("run \"" + runId + "\" has no value, it is " + run.state()
                    + (run.failure() == null ? "" : ": " + run.failure()));
        }
        if (run.problem() != null) {
            throw new IllegalStateException("run \"" + runId + "\" is " + run.state() + ": " + run.problem());
        }
        Registration<?> registration = registrations.get(RunTable.taskName(run.flow(), run.version()));
        if (registration == null) {
            throw new IllegalStateException("the value of run \"" + runId + "\" cannot be decoded: version "
                    + run.version() + " of flow \"" + run.flow() + "\" is not registered here");
        }
        try {
            byte[] encoded = attempt("read run \"" + runId + "\"", () -> queries.value(runId));
            return new RunValue(registration.values()).decode(encoded);
        } catch (IOException cannot) {
            throw new IllegalStateException("the value of run \"" + runId + "\" cannot be decoded", cannot);
        }
    }

    private StoredRun existing(String runId) {
        return status(runId)
                .orElseThrow(() -> new NoSuchElementException(
                        "there is no run \"" + runId + "\"; it may have been removed after its end"));
    }

    /**
     * Waits for the end of a run, wherever it is executed. Continues to wait while the database is unavailable.
     *
     * @param runId the id of the run
     * @return the run, which has ended
     * @throws NoSuchElementException if there is no such run, or if it is removed meanwhile; this service does not
     *     remove a run that has ended before this call has noticed that
     * @throws InterruptedException if the caller was interrupted
     */
    public StoredRun await(String runId) throws InterruptedException {
        try {
            return await(runId, Duration.ofSeconds(Long.MAX_VALUE));
        } catch (TimeoutException never) {
            throw new IllegalStateException(never);
        }
    }

    /**
     * Waits for the end of a run, wherever it is executed. Continues to wait while the database is unavailable.
     *
     * @param runId the id of the run
     * @param timeout the longest time to wait
     * @return the run, which has ended
     * @throws NoSuchElementException if there is no such run, or if it is removed meanwhile
     * @throws TimeoutException if it has not ended in time
     * @throws InterruptedException if the caller was interrupted
     */
    public StoredRun await(String runId, Duration timeout) throws InterruptedException, TimeoutException {
        long begun = System.nanoTime();
        long nanos = TimeUnit.NANOSECONDS.convert(timeout); // saturates
        while (true) {
            CountDownLatch ended = watch.whenEnded(runId);
            StoredRun run = existingUnlessAway(runId);
            String state = run == null
                    ? "unknown, because the database is away"
                    : run.state().name();
            if (run != null && run.state().isEnd()) {
                return run;
            }
            if (isClosed.get()) {
                throw new IllegalStateException("the service is closed; run \"" + runId + "\" is " + state);
            }
            if (!ended.await(nanos - (System.nanoTime() - begun), TimeUnit.NANOSECONDS)) {
                throw new TimeoutException(
                        "run \"" + runId + "\" has not ended within " + timeout + ", it is " + state);
            }
        }
    }

    /** Returns a run, or null if the database is away: the next look at it wakes those that wait for an ended run. */
    private @Nullable StoredRun existingUnlessAway(String runId) {
        try {
            return existing(runId);
        } catch (DatabaseException failure) {
            if (failure.getCause() instanceof SQLException cause && Database.isTemporary(cause)) {
                return null;
            }
            throw failure;
        }
    }

    // Changing.

    /**
     * Requests that a run is cancelled. A run that no worker has begun ends at once; otherwise its nodes are cancelled
     * and compensated by the worker that executes it, or by the next one. If no live worker has its version, the run
     * waits for one, and {@link StoredRun#problem} says so.
     *
     * @param runId the id of the run
     * @param reason the reason, for messages
     * @return false if the run has ended or does not exist
     */
    public boolean cancel(String runId, String reason) {
        checkId(runId);
        Objects.requireNonNull(reason, "reason");
        boolean isRequested = attempt("cancel run \"" + runId + "\"", () -> runs.cancel(runId, reason));
        watch.ended(runId);
        checkIf(isRequested);
        return isRequested;
    }

    /**
     * Runs nodes of a run that has ended again, with all nodes that depend on them; all others keep their values. If no
     * node is named, a run that is {@link RunState#STUCK} continues where it was, in the same try. Another run
     * without success also runs its nodes without success again, so no node need be named. A signal node that runs
     * again because it was named, or depends on such a node or on one that was compensated, waits for a new signal. If
     * the version is not registered here, {@link #signal} refuses that until a worker has begun the run again.
     *
     * @param runId the id of the run
     * @param nodes the ids of the nodes
     * @return false if the run has not ended
     * @throws NoSuchElementException if there is no such run
     * @throws IllegalArgumentException if the version of the run has no such node; if the version is not registered
     *     here, so that its nodes are unknown, if the journal of the run has no entry of the node
     */
    public boolean rerun(String runId, String... nodes) {
        StoredRun run = existing(runId);
        Registration<?> registration = registrations.get(RunTable.taskName(run.flow(), run.version()));
        for (String node : nodes) {
            if (registration != null && !registration.nodes().contains(node)) {
                throw new IllegalArgumentException("flow \"" + run.flow() + "\" has no node \"" + node + "\"");
            }
        }
        if (registration == null && nodes.length > 0) {
            requireRecorded(runId, List.of(nodes));
        }
        List<String> named = List.of(nodes);
        boolean continues = named.isEmpty() && run.state() == RunState.STUCK; // in the same try, which forgets nothing
        Set<String> unsignalled =
                continues ? Set.of() : recorded(run, entries(runId)).toForget(named);
        boolean isRequested = attempt("run \"" + runId + "\" again", () -> runs.rerun(run, named, unsignalled));
        checkIf(isRequested);
        return isRequested;
    }

    /** Refuses nodes that may not exist: no worker could continue a run that is to begin with them. */
    private void requireRecorded(String runId, List<String> nodes) {
        Set<String> recorded = new TreeSet<>();
        for (StoredEntry entry : entries(runId)) {
            if (entry.node() != null && !entry.isOfSubflow()) {
                recorded.add(entry.node());
            }
        }
        for (String node : nodes) {
            if (!recorded.contains(node)) {
                throw new IllegalArgumentException("the journal of run \"" + runId + "\" has no entry of node \"" + node
                        + "\", and its version is not registered here; the journal has entries of " + recorded);
            }
        }
    }

    /**
     * Sends a signal to a node of a run, once: later signals to the same node are ignored. The version of the run must
     * be registered here, since its codec encodes the value;
     * {@link #signal(String, String, Object, FlowCodec)} works without.
     *
     * @param runId the id of the run
     * @param node the id of the node that waits for the signal; the run keeps the signal until it gets there
     * @param value the value, may be null
     * @return whether the signal was stored; false if there was one before, or if the node or the run has ended
     * @throws NoSuchElementException if there is no such run
     * @throws IllegalArgumentException if the plan has no such signal, or the value is not of its class, or cannot be
     *     stored
     */
    public boolean signal(String runId, String node, @Nullable Object value) {
        StoredRun run = existing(runId);
        Registration<?> registration = registrations.get(RunTable.taskName(run.flow(), run.version()));
        if (registration == null) {
            throw new IllegalArgumentException("version " + run.version() + " of flow \"" + run.flow()
                    + "\" is not registered here, so the signal cannot be encoded; pass the codec of the flow");
        }
        registration.plan().checkSignal(node, value);
        return signal(run, node, value, registration.values());
    }

    /**
     * Sends a signal to a node of a run from a service that need not have registered the flow. Whether the plan has the
     * node, and whether the value is of its class, is checked by the worker that executes the run: it removes a signal
     * that the run cannot take, so that another one can be sent, and {@link StoredRun#problem} says so until the run is
     * claimed again or has ended. A node whose id begins with that of another node and a slash is then taken for one of
     * a subflow, which takes no signal when that other node has ended.
     *
     * @param runId the id of the run
     * @param node the id of the node that waits for the signal
     * @param value the value, may be null
     * @param codec the codec with which the version of the run is registered elsewhere
     * @return whether the signal was stored; false if there was one before, or if the node or the run has ended
     * @throws NoSuchElementException if there is no such run
     * @throws IllegalArgumentException if the value cannot be stored
     */
    public boolean signal(String runId, String node, @Nullable Object value, FlowCodec codec) {
        StoredRun run = existing(runId);
        Texts.requireStorable("the id of a node", node);
        return signal(run, node, value, new Values(codec));
    }

    private boolean signal(StoredRun run, String node, @Nullable Object value, Values values) {
        byte[] encoded;
        try {
            encoded = values.encode("the signal for node \"" + node + "\"", value);
        } catch (IOException cannot) {
            throw new IllegalArgumentException(cannot.getMessage(), cannot);
        }
        Registration<?> registration = registrations.get(RunTable.taskName(run.flow(), run.version()));
        boolean mayBeNested = registration == null || !registration.nodes().contains(node);
        boolean isStored =
                attempt("signal run \"" + run.id() + "\"", () -> runs.signal(run.id(), node, encoded, mayBeNested));
        checkIf(isStored);
        return isStored;
    }

    /** Looks for runs that are due, if a request may have made one so. */
    private void checkIf(boolean isRequested) {
        if (isRequested && worker != null) {
            worker.check();
        }
    }

    /**
     * Starts no more runs, waits until those that are executed here have ended, at most for the close timeout, and then
     * gives up those that are left, which other services continue at once. Submitted runs stay in the database. A
     * compensation or callback that does not end is waited for another five seconds, and then interrupted; its run is
     * continued elsewhere when heartbeats are missing.
     */
    @Override
    public void close() {
        shutdown(closeTimeout);
    }

    /**
     * Closes this service as {@link #close()} does, and returns what it has not finished. Only the first call of these
     * two methods has an effect; another one returns at once. While the database is unavailable, this may take as long
     * as the data source waits for connections, although no run is waited for any more.
     *
     * @param timeout the longest time to wait for the runs that are executed here, at most the close timeout; not
     *     negative
     * @return the runs that were given up, none if all have ended
     */
    public List<FlowServiceStats.Execution> shutdown(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("timeout must not be negative, was " + timeout);
        }
        if (!isClosed.compareAndSet(false, true)) {
            return List.of();
        }
        List<FlowServiceStats.Execution> left = List.of();
        if (worker != null) {
            left = worker.close(timeout.compareTo(closeTimeout) < 0 ? timeout : closeTimeout);
            writer.close();
        }
        watch.close();
        return left;
    }

    private interface Action<T extends @Nullable Object> {
        T run() throws SQLException;
    }

    private static <T extends @Nullable Object> T attempt(String what, Action<T> action) {
        try {
            return action.run();
        } catch (SQLException failure) {
            throw new DatabaseException(what, failure);
        }
    }

    /** Builds a service. For one thread. */
    public static final class Builder {
        private final DataSource source;
        private final Map<String, Registration<?>> registrations = new LinkedHashMap<>();
        private final Map<String, Registration<?>> newest = new LinkedHashMap<>();
        private boolean appliesSchema;
        private boolean submitsOnly;
        private String name = ProcessHandle.current().pid() + "-"
                + UUID.randomUUID().toString().substring(0, 8);
        private int maxRuns = 16;
        private int maxRecoveries = 5;
        private Duration heartbeat = Duration.ofSeconds(1);
        private int missedHeartbeats = 10;
        private Duration pollInterval = Duration.ofMillis(500);
        private Duration parkAfter = Duration.ofSeconds(5);
        private Duration retention = Duration.ofDays(7);
        private Duration closeTimeout = Duration.ofSeconds(30);

        private Builder(DataSource source) {
            this.source = Objects.requireNonNull(source, "source");
        }

        /**
         * Registers a version of a flow with the default options of runs.
         *
         * @param <P> the type of the parameter
         * @param plan the plan; its name is the name of the flow
         * @param version the version, up to 50 letters, digits, dots, dashes and underscores; a plan whose nodes or
         *     dependencies have changed needs a new one
         * @param codec the codec of the parameter, of all values and of signals
         * @return this builder
         */
        public <P> Builder register(FlowPlan<P, ?> plan, String version, FlowCodec codec) {
            return register(plan, version, codec, RunOptions.defaults());
        }

        /**
         * Registers a version of a flow. Several versions of a flow may be registered; new runs have the last one.
         *
         * @param <P> the type of the parameter
         * @param plan the plan
         * @param version the version
         * @param codec the codec of the parameter, of all values and of signals
         * @param options the options of each run; a timeout counts from the first start of the run
         * @return this builder
         * @throws IllegalArgumentException if the version is not well-formed, or registered already, or if the options
         *     are for a single run: {@link RunOptions#ofSingleRun}
         */
        public <P> Builder register(FlowPlan<P, ?> plan, String version, FlowCodec codec, RunOptions options) {
            Registration<P> added = Registration.of(plan, version, codec, options);
            if (registrations.putIfAbsent(added.taskName(), added) != null) {
                throw new IllegalArgumentException(
                        "version " + version + " of flow \"" + plan.name() + "\" is registered already");
            }
            newest.put(plan.name(), added);
            return this;
        }

        /**
         * Lets the service create its tables, or update them, when it starts. The alternative is to apply the files in
         * {@code META-INF/raddle/jdbc} of the jar by the migrations of the application.
         *
         * @return this builder
         */
        public Builder applySchema() {
            appliesSchema = true;
            return this;
        }

        /**
         * Lets the service execute no runs, only submit them and look at them; others execute them.
         *
         * @return this builder
         */
        public Builder submitOnly() {
            submitsOnly = true;
            return this;
        }

        /**
         * Sets the name of this worker, which must be unique; the default is made of the process id and a random part.
         *
         * @param workerName the name, at most 50 characters
         * @return this builder
         */
        public Builder name(String workerName) {
            if (workerName.isEmpty() || workerName.length() > 50) {
                throw new IllegalArgumentException("a name must have 1 to 50 characters, was \"" + workerName + "\"");
            }
            Texts.requireStorable("the name of a worker", workerName);
            name = workerName;
            return this;
        }

        /**
         * Sets the number of runs that this service executes at the same time; the default is 16. Each of them has a
         * heartbeat of its own, one after the other: for all of them the database must need less than a third of the
         * time for which heartbeats may be missing, or live runs are taken over. Runs that only wait need no place.
         *
         * @param runs the number, at least 1
         * @return this builder
         */
        public Builder maxRuns(int runs) {
            if (runs < 1) {
                throw new IllegalArgumentException("maxRuns must be at least 1, was " + runs);
            }
            maxRuns = runs;
            return this;
        }

        /**
         * Sets how often a run may lose its worker without a record in between, because the process dies or is stopped
         * beyond its heartbeats; the default is 5. After that the run is {@link RunState#STUCK}. A run that has lost
         * its worker records the begins of attempts from then on, and a worker begins only one such run at a time.
         *
         * @param losses the number of losses after which a run is STUCK, at least 1
         * @return this builder
         */
        public Builder maxRecoveries(int losses) {
            if (losses < 1) {
                throw new IllegalArgumentException("maxRecoveries must be at least 1, was " + losses);
            }
            maxRecoveries = losses;
            return this;
        }

        /**
         * Sets the heartbeats of runs; the default is one each second, and ten that may be missing. The runs of a
         * process that has ended, or has stopped for longer than the product, are taken over by others, at the latest
         * two heartbeats and a poll interval later. An outage of the database that is longer makes runs begin anew from
         * their records.
         *
         * @param interval the time between two heartbeats, 100 ms to an hour
         * @param missed the number of heartbeats that may be missing, 4 to 10,000
         * @return this builder
         */
        public Builder heartbeat(Duration interval, int missed) {
            if (interval.compareTo(Duration.ofMillis(100)) < 0
                    || interval.compareTo(MAX_INTERVAL) > 0
                    || missed < 4
                    || missed > MAX_MISSED) {
                throw new IllegalArgumentException("a heartbeat needs an interval of 100 ms to " + MAX_INTERVAL
                        + ", and 4 to " + MAX_MISSED + " that may be missing, was " + interval + " and " + missed);
            }
            heartbeat = interval;
            missedHeartbeats = missed;
            return this;
        }

        /**
         * Sets how often the service looks for runs of others, for requests to cancel and for ends that are awaited;
         * the default is 500 ms. Runs that are submitted here begin at once.
         *
         * @param interval the time between two looks, 10 ms to an hour
         * @return this builder
         */
        public Builder pollInterval(Duration interval) {
            if (interval.compareTo(Duration.ofMillis(10)) < 0 || interval.compareTo(MAX_INTERVAL) > 0) {
                throw new IllegalArgumentException(
                        "pollInterval must be 10 ms to " + MAX_INTERVAL + ", was " + interval);
            }
            pollInterval = interval;
            return this;
        }

        /**
         * Sets when a run that only sleeps or waits for signals is executed no more, until the moment or the signal for
         * which it waits, or one of its timeouts; the default is 5 s. Until then it counts as one of {@link #maxRuns}
         * and has heartbeats. A run that continues within this time by itself is not interrupted.
         *
         * @param time the time without progress, not negative
         * @return this builder
         */
        public Builder parkAfter(Duration time) {
            if (time.isNegative()) {
                throw new IllegalArgumentException("parkAfter must not be negative, was " + time);
            }
            parkAfter = time;
            return this;
        }

        /**
         * Sets the time for which runs that have ended are kept; the default is seven days.
         *
         * @param age the time after the end, not negative; a hundred years and more are a hundred years
         * @return this builder
         */
        public Builder retention(Duration age) {
            if (age.isNegative()) {
                throw new IllegalArgumentException("retention must not be negative, was " + age);
            }
            retention = age.compareTo(LONGEST) < 0 ? age : LONGEST;
            return this;
        }

        /**
         * Sets the time that {@link FlowService#close()} waits for runs; the default is 30 s. Returning those that are
         * given up then takes another five seconds at most.
         *
         * @param timeout the longest time to wait, not negative; a hundred years and more are a hundred years
         * @return this builder
         */
        public Builder closeTimeout(Duration timeout) {
            if (timeout.isNegative()) {
                throw new IllegalArgumentException("closeTimeout must not be negative, was " + timeout);
            }
            closeTimeout = timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST;
            return this;
        }

        private ServiceSettings settings() {
            return new ServiceSettings(
                    name,
                    maxRuns,
                    maxRecoveries,
                    heartbeat,
                    missedHeartbeats,
                    pollInterval,
                    parkAfter,
                    retention,
                    closeTimeout);
        }

        /**
         * Starts the service.
         *
         * @return a new service, which the caller closes
         * @throws IllegalStateException if the database does not have the tables
         */
        public FlowService start() {
            return attempt("start the service", () -> new FlowService(this));
        }
    }
}
