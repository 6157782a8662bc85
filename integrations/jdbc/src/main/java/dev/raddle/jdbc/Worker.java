package dev.raddle.jdbc;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerName;
import com.github.kagkarlsson.scheduler.exceptions.ExecutionException;
import com.github.kagkarlsson.scheduler.serializer.Serializer;
import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import com.github.kagkarlsson.scheduler.task.ExecutionComplete;
import com.github.kagkarlsson.scheduler.task.ExecutionContext;
import com.github.kagkarlsson.scheduler.task.ExecutionHandler;
import com.github.kagkarlsson.scheduler.task.ExecutionOperations;
import com.github.kagkarlsson.scheduler.task.Task;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import dev.raddle.jdbc.ClaimedRun.End;
import dev.raddle.jdbc.FlowServiceStats.Execution;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes runs that db-scheduler gives to this process. */
final class Worker {

    /*
     * Overview.
     *
     * Each run that has not ended has a row in the table of db-scheduler, whose task is the version of its flow.
     * db-scheduler picks rows that are due, calls `execute` for each in a virtual thread, keeps a heartbeat for each
     * until that returns, and finds rows of other processes whose heartbeat has stopped. Those become due again.
     *
     * The row in the table of runs decides, not that of db-scheduler: `execute` first claims the run there, which
     * increments its epoch and fences all earlier claims. So it does no harm if db-scheduler gives a run to two
     * workers, as it does after a worker was stopped for longer than its heartbeats may be missing, or if it gives out
     * a run that has ended, as it does when a process ends between the end of a run and the removal of its row.
     *
     * Losses. A run that kills its process, as one that takes all memory does, must not take the others of one worker
     * after the other with it. So a worker begins only one run at a time that has lost its worker (`suspect`), until
     * that has recorded the end of something, or has been executed for as long as heartbeats may be missing. The claim
     * counts the losses without such a record (RunTable); after `maxRecoveries` of them the run is stuck.
     *
     * Parking. A run that has not ended is in one of these states:
     *
     *   due        its row in the table of db-scheduler is not picked, and its time has come
     *   executed   the row is picked, with heartbeats of the worker of the latest epoch
     *   left       the row is picked, without heartbeats
     *   parked     the row is not picked, and its time is the moment at which the run continues by itself
     *
     *   due      ► executed   by a worker that picks and claims it
     *   executed ► left       when its worker dies, or cannot park it, as if the database is away
     *   left     ► due        by any worker that finds the heartbeats missing
     *   executed ► parked     by its worker, if the run only waits and all signals are delivered
     *   executed ► due        by its worker, if a request came before it was parked, or it cannot continue here
     *   parked   ► due        when its time has come, or by a request: a signal, or a cancel
     *
     * The watching thread decides to park (ClaimedRun.parkIfWaiting): it delivers the signals that it knows, and the
     * run is abandoned if only a moment or another signal can continue it. No node is interrupted by that, and
     * everything that has happened is recorded. Until the row is parked, the run is executed by its worker, and
     * nothing happens in it.
     *
     * A request may come at any time. Parking and a request both lock the row of the run first, and then read with new
     * statements. If the request commits first, parking finds a signal that the run has not received, or the reason to
     * cancel, and makes the run due. This includes a request that comes after the run was abandoned and before its row
     * is locked. Otherwise the request finds the row parked, and makes it due itself. If another worker has claimed the
     * run, because this one was stopped for long, parking finds another epoch, or another version of the row if it was
     * only picked, and changes nothing.
     */
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    private static final String TABLE = "raddle_task";
    private static final String RETENTION = "raddle-retention";
    private static final Duration RETENTION_INTERVAL = Duration.ofMinutes(1);
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
    private static final Duration GRACE = Duration.ofSeconds(5); // for returning runs that were given up
    private static final Duration NEVER = Duration.ofDays(36_500);

    /** Stores no data: whatever is in the table is not deserialized. */
    private static final Serializer NO_DATA = new Serializer() {
        @Override
        @SuppressWarnings("NullAway") // db-scheduler has no annotations
        public byte[] serialize(Object data) {
            return null;
        }

        @Override
        @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
        public <T> T deserialize(Class<T> type, byte[] data) {
            return null;
        }
    };

    private final Database database;
    private final RunTable runs;
    private final JournalWriter writer;
    private final DatabaseClock clock;
    private final ServiceSettings settings;
    private final Map<String, Registration<?>> registrations; // by the names of their tasks
    private final Consumer<String> onEnd;
    private final Retention retention;
    private final Map<String, ClaimedRun> claimed = new ConcurrentHashMap<>(); // by their ids
    private final Queue<Execution> givenUp = new ConcurrentLinkedQueue<>(); // because of the close
    private final Rounds rounds;
    private final Scheduler scheduler;
    private @Nullable ClaimedRun suspect; // the latest run that has lost its worker; guarded by this
    private volatile boolean isClosing;

    Worker(
            Database database,
            RunTable runs,
            JournalWriter writer,
            ServiceSettings settings,
            Map<String, Registration<?>> registrations,
            DatabaseClock clock,
            Consumer<String> onEnd,
            Supplier<Set<String>> awaited) {
        this.database = database;
        this.runs = runs;
        this.writer = writer;
        this.settings = settings;
        this.registrations = registrations;
        this.onEnd = onEnd;
        retention = new Retention(database, settings.retention(), awaited, () -> isClosing);
        this.clock = clock;
        rounds = new Rounds(database, clock, this::check);
        scheduler = scheduler();
    }

    private Scheduler scheduler() {
        List<Task<?>> tasks = new ArrayList<>();
        registrations.keySet().forEach(name -> tasks.add(taskOf(name, "run", this::execute)));
        registrations.values().stream()
                .map(registration -> ScheduleTable.taskName(registration.flow()))
                .distinct()
                .forEach(name -> tasks.add(taskOf(name, "schedule", this::makeRound)));
        return Scheduler.create(database.source(), tasks)
                .startTasks(retention())
                .tableName(TABLE)
                .serializer(NO_DATA)
                .clock(clock)
                .schedulerName(new SchedulerName.Fixed(settings.name()))
                .threads(settings.maxRuns())
                .executorService(Executors.newVirtualThreadPerTaskExecutor())
                .pollUsingLockAndFetch(0.75, 1.0) // never more than can run: others could run them
                .pollingInterval(settings.pollInterval())
                .heartbeatInterval(settings.heartbeat())
                .missedHeartbeatsLimit(settings.missedHeartbeats())
                .deleteUnresolvedAfter(NEVER) // runs of versions that no worker has are kept
                .commitWhenAutocommitDisabled(true)
                .shutdownMaxWait(settings.closeTimeout().plus(GRACE)) // an interrupt would break connections
                .build();
    }

    private Task<Void> taskOf(String name, String kind, ExecutionHandler<Void> action) {
        return Tasks.custom(name, Void.class)
                .onFailure((complete, operations) -> returnAt(operations, complete, AFTER_FAILURE))
                .onDeadExecution((complete, operations) -> {
                    LOG.info(
                            "{} \"{}\" is taken over: its worker is gone",
                            kind,
                            complete.getExecution().getId());
                    returnAt(operations, complete, Duration.ZERO); // unless its late worker was only slow
                    check();
                })
                .execute(action);
    }

    private CompletionHandler<Void> makeRound(TaskInstance<Void> instance, ExecutionContext context) {
        return isClosing ? this::returnNow : rounds.execute(instance.getId());
    }

    private RecurringTask<Void> retention() {
        return Tasks.recurring(RETENTION, FixedDelay.of(RETENTION_INTERVAL)).execute((instance, context) -> {
            try {
                retention.remove();
            } catch (SQLException failure) {
                LOG.warn("ended runs could not be removed: {}", failure.getMessage());
            }
        });
    }

    void start() {
        scheduler.start();
    }

    /** Looks for runs that are due at once. */
    void check() {
        scheduler.triggerCheckForDueExecutions();
    }

    Rounds rounds() {
        return rounds;
    }

    /** Returns the runs that this worker executes. */
    Map<String, ClaimedRun> claimed() {
        return claimed;
    }

    private CompletionHandler<Void> execute(TaskInstance<Void> instance, ExecutionContext context) {
        String id = instance.getId();
        Registration<?> registration = registrations.get(instance.getTaskName());
        ClaimedRun run = isClosing || registration == null ? null : claim(id, registration, false);
        if (run == null && !isClosing && registration != null) { // it has ended, or has lost its worker
            synchronized (this) {
                if (isSuspectOnProbation()) {
                    return (complete, operations) -> returnAt(operations, complete, settings.pollInterval());
                }
                run = claim(id, registration, true);
                suspect = run == null ? suspect : run;
            }
        }
        if (run == null) {
            return isClosing ? this::returnNow : Worker::remove;
        }
        return execute(run);
    }

    private CompletionHandler<Void> execute(ClaimedRun run) {
        String id = run.id();
        try {
            if (isClosing) {
                run.lose("the service is being closed", true);
            }
            End end = run.losses() < settings.maxRecoveries() ? run.execute() : run.stickLost();
            if (isClosing && end instanceof End.Waits) {
                givenUp.add(run.execution()); // before it leaves those that are executed, so that it is in a list
            }
            return completion(run, end);
        } finally {
            claimed.remove(id, run);
            onEnd.accept(id);
        }
    }

    private boolean isSuspectOnProbation() {
        ClaimedRun latest = suspect;
        return latest != null && claimed.get(latest.id()) == latest && latest.isOnProbation(settings.lease());
    }

    /** Claims a run. Returns null if it has ended, or has lost its worker and may not be claimed for that reason. */
    private @Nullable ClaimedRun claim(String id, Registration<?> registration, boolean mayBeLost) {
        RunTable.Claim claim;
        try {
            claim = runs.claim(id, settings.name(), mayBeLost);
        } catch (SQLException failure) {
            throw new DatabaseException("claim run \"" + id + "\"", failure); // it is tried again
        }
        if (claim == null) {
            return null;
        }
        EntryRow.Maker maker = new EntryRow.Maker(id, claim.epoch(), registration.values());
        JdbcJournal journal = new JdbcJournal(
                database,
                writer,
                clock,
                maker,
                registration.nodes(),
                registration.plan()::checkSignal,
                settings.lease(),
                claim.losses() > 0);
        ClaimedRun run = new ClaimedRun(runs, registration, claim, journal);
        ClaimedRun before = claimed.put(id, run);
        if (before != null) {
            before.loseLater("it was claimed again");
        }
        return run;
    }

    private CompletionHandler<Void> completion(ClaimedRun run, End end) {
        return switch (end) {
            case End.Done() -> Worker::remove;
            case End.Lost() -> {
                LOG.info("{} is lost to another worker", run);
                yield (complete, operations) -> {};
            }
            case End.Parked parked -> (complete, operations) -> park(run, parked, complete);
            case End.Waits(String problem, Duration delay, boolean hasOtherPlan) ->
                (complete, operations) -> {
                    release(run, problem, hasOtherPlan);
                    returnAt(operations, complete, delay);
                };
        };
    }

    /** Lets a run wait. If that fails, the row is without heartbeats, and taken over as that of a dead worker. */
    private void park(ClaimedRun run, End.Parked parked, ExecutionComplete complete) {
        var row = complete.getExecution();
        try {
            boolean waits =
                    runs.park(run.id(), run.epoch(), row.getTaskName(), row.version, parked.length(), parked.known());
            LOG.debug("{} {}", run, waits ? "waits without a worker" : "continues at once");
            if (!waits) {
                check();
            }
        } catch (SQLException failure) {
            LOG.warn("{} only waits, and could not be returned: {}", run, failure.getMessage());
        }
    }

    private void release(ClaimedRun run, @Nullable String problem, boolean hasOtherPlan) {
        if (problem != null) {
            LOG.warn("{} cannot continue: {}", run, problem);
        }
        try {
            runs.release(run.id(), run.epoch(), problem, hasOtherPlan);
        } catch (SQLException failure) {
            LOG.warn("{} could not be released: {}", run, failure.getMessage());
        }
    }

    private void returnNow(ExecutionComplete complete, ExecutionOperations<Void> operations) {
        returnAt(operations, complete, Duration.ZERO);
    }

    private static void returnAt(ExecutionOperations<Void> operations, ExecutionComplete complete, Duration delay) {
        Instant at = complete.getTimeDone().plus(delay);
        try {
            operations.reschedule(complete, at);
        } catch (ExecutionException taken) {
            LOG.debug("another thread has changed the row meanwhile", taken);
        }
    }

    static void remove(ExecutionComplete complete, ExecutionOperations<Void> operations) {
        try {
            operations.remove();
        } catch (ExecutionException taken) {
            LOG.debug("another worker has the row already, and will find that the run has ended", taken);
        }
    }

    /**
     * Starts no more runs, waits for those that are executed, then gives up those that are left.
     *
     * @param timeout the time for those that are executed, at most the close timeout, on which the scheduler relies
     * @return the runs that were given up, and those that go on nevertheless
     */
    List<Execution> close(Duration timeout) {
        scheduler.pause();
        isClosing = true; // before any run is given up, which is counted only then
        CountDownLatch stopped = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> giveUpAfter(timeout, stopped));
        scheduler.stop();
        stopped.countDown();
        return Stream.concat(givenUp.stream(), executing().stream()).distinct().toList();
    }

    List<Execution> givenUp() {
        return List.copyOf(givenUp);
    }

    /** Returns the runs that this worker executes, ordered by their ids. */
    List<Execution> executing() {
        return claimed.values().stream()
                .map(ClaimedRun::execution)
                .sorted(Comparator.comparing(Execution::run))
                .toList();
    }

    private void giveUpAfter(Duration timeout, CountDownLatch stopped) {
        boolean isStopped = false;
        try {
            isStopped = stopped.await(NANOSECONDS.convert(timeout), NANOSECONDS);
        } catch (InterruptedException impossible) {
            LOG.debug("no thread interrupts this one", impossible);
        }
        if (!isStopped) {
            claimed.values().forEach(run -> run.lose("the service was closed", true));
        }
    }
}
