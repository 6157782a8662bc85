package dev.raddle.jdbc;

import com.github.kagkarlsson.scheduler.task.CompletionHandler;
import dev.raddle.jdbc.ScheduleTable.Row;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Submits the runs of the schedules of a service. */
final class Rounds {

    /*
     * Overview.
     *
     * A schedule has a row in raddle_schedule, which decides, and a task of db-scheduler, which only wakes a worker at
     * the moment of the next round. A worker that is woken reads the row, calls the parameter function, and then, in
     * one transaction,
     *
     *   (1)  advances next_at from the moment that it has read, and
     *   (2)  inserts the run, whose id is the name and the moment.
     *
     * (1) changes nothing if the row is not as it was read: another worker has submitted the round, or the schedule was
     * paused, removed or changed. Then (2) does not happen. So it does no harm if two workers are woken, if one is
     * killed anywhere, or if the function is called again; and next_at only grows, so a clock that is set back repeats
     * no round.
     *
     * A round whose function throws keeps its moment and gets a problem. Otherwise, if several moments have passed,
     * the latest is submitted and the others are left out.
     *
     * The task is returned by a statement that locks the row of the schedule first, and requests change that row before
     * they change the task: a request that comes while a worker has the task is seen when the worker returns it. One
     * that stores or resumes the schedule takes the task from the worker. No statement waits for a locked row for more
     * than some seconds; the round is then tried again.
     */
    private static final Logger LOG = LoggerFactory.getLogger(Rounds.class);
    private static final Duration SHORTEST = Duration.ofSeconds(1); // until a round is tried again
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** A schedule of this process. */
    private record Scheduled(Registration<?> registration, Function<ZonedDateTime, @Nullable Object> parameter) {

        Submission submission(String id, ZonedDateTime moment) {
            return Submission.of(registration, id, parameter.apply(moment));
        }
    }

    private final ScheduleTable table;
    private final DatabaseClock clock;
    private final Runnable onSubmit;
    private final Map<String, Scheduled> scheduled = new ConcurrentHashMap<>(); // by their names

    Rounds(Database database, DatabaseClock clock, Runnable onSubmit) {
        this.clock = clock;
        this.onSubmit = onSubmit;
        table = new ScheduleTable(database);
    }

    /** Stores a schedule, or changes it. */
    void put(
            String name,
            Registration<?> registration,
            Schedule schedule,
            Function<ZonedDateTime, @Nullable Object> parameter)
            throws SQLException {
        String flow = registration.flow();
        if (!table.put(name, flow, schedule, schedule.next(clock.now()))) {
            Row other = table.find(name);
            throw new IllegalArgumentException("schedule \"" + name + "\" must keep its flow, it has flow \""
                    + (other == null ? "?" : other.flow()) + "\", and this is flow \"" + flow
                    + "\"; choose another name, or call removeSchedule(\"" + name + "\") before");
        }
        scheduled.put(name, new Scheduled(registration, parameter));
        onSubmit.run();
    }

    /** Makes the round that is due, if there is one. */
    CompletionHandler<Void> execute(String name) {
        try {
            Row row = table.find(name);
            if (row == null) {
                return Worker::remove;
            }
            Duration delay = round(row);
            return (complete, operations) -> {
                try {
                    table.returnTask(row.flow(), name, complete.getExecution().version, delay);
                } catch (SQLException failure) { // its heartbeats will be missed
                    LOG.warn("the task of schedule \"{}\" could not be returned: {}", name, failure.getMessage());
                }
            };
        } catch (SQLException failure) {
            throw new DatabaseException("make a round of schedule \"" + name + "\"", failure); // it is tried again
        }
    }

    /** Returns the time after which to look again at the earliest. */
    private Duration round(Row row) throws SQLException {
        Instant now = clock.now();
        if (row.isPaused() || row.nextAt().isAfter(now)) {
            return Duration.ZERO;
        }
        Duration later = laterAfter(Duration.between(row.nextAt(), now));
        Scheduled here = scheduled.get(row.name());
        if (here == null || !here.registration().flow().equals(row.flow())) {
            return later; // another worker may know it
        }
        if (row.isOpen() && row.schedule().overlap() == Schedule.Overlap.WAIT) {
            return SHORTEST;
        }
        Instant moment = row.problem() == null ? row.schedule().latest(row.nextAt(), now) : row.nextAt();
        Instant next = row.schedule().next(moment);
        if (row.isOpen()) {
            LOG.info(
                    "the round of schedule \"{}\" at {} is skipped: {} has not ended",
                    row.name(),
                    moment,
                    row.lastRun());
            end(row, next, row.lastRun(), null);
            return Duration.ZERO;
        }
        String id = row.name() + "/" + moment;
        Submission submission;
        try {
            submission = here.submission(id, moment.atZone(row.schedule().zone()));
        } catch (Throwable ofTheFunction) {
            String problem = "the round at " + moment + " has no parameter: " + ofTheFunction
                    + "; it is tried again, by any worker";
            LOG.warn("schedule \"{}\": {}", row.name(), problem);
            end(row, moment, row.lastRun(), problem);
            return later;
        }
        boolean _ = table.change(connection -> submit(connection, row, next, submission));
        onSubmit.run();
        return Duration.ZERO;
    }

    private static boolean submit(Connection connection, Row row, Instant next, Submission submission)
            throws SQLException {
        return ScheduleTable.advance(connection, row, next, submission.runId(), null)
                && submission.storeIfNew(connection); // it is not new if the clock was set back
    }

    private void end(Row row, Instant next, @Nullable String lastRun, @Nullable String problem) throws SQLException {
        boolean _ = table.change(connection -> ScheduleTable.advance(connection, row, next, lastRun, problem));
    }

    private static Duration laterAfter(Duration lateness) {
        Duration part = lateness.dividedBy(4);
        return part.compareTo(SHORTEST) < 0 ? SHORTEST : part.compareTo(LONGEST) > 0 ? LONGEST : part;
    }
}
