package dev.raddle.jdbc;

import com.github.kagkarlsson.scheduler.task.schedule.CronSchedule;
import com.github.kagkarlsson.scheduler.task.schedule.CronStyle;
import dev.raddle.task.CheckReturnValue;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The moments at which {@linkplain FlowService#schedule runs are submitted}, and what happens to a round that is due
 * while the run of the round before has not ended.
 *
 * {@snippet :
 * Schedule.cron("0 3 * * *", ZoneId.of("Europe/Berlin")); // each night at three
 * }
 *
 * <p>Where clocks are set forward, a moment that does not exist is replaced by the end of the gap, unless another one
 * follows within the length of the gap. Where they are set back, a schedule with one moment in the repeated hour has it
 * once, the first time; one with several moments in it, or whose hours begin with {@code *}, has them twice.
 *
 * @param cron five fields as in a crontab: minute, hour, day of month, month, day of week; or six, with the second
 *     first. If both kinds of days are restricted in five fields, either may match
 * @param zone the time zone of the fields
 * @param overlap the behaviour of a round that is due while the run before has not ended
 */
@CheckReturnValue
public record Schedule(String cron, ZoneId zone, Overlap overlap) {

    private static final int WITH_SECONDS = 6;
    private static final int HOURS_FROM_END = 4;
    private static final Instant NEVER = com.github.kagkarlsson.scheduler.task.schedule.Schedule.NEVER;

    /** What happens to a round that is due while the run of the round before has not ended. */
    public enum Overlap {
        /** It waits for that end. If several rounds have waited, the latest is submitted. */
        WAIT,
        /** It is skipped. */
        SKIP
    }

    /**
     * Creates a schedule.
     *
     * @throws IllegalArgumentException if the cron expression is not well-formed, or has no moment
     */
    public Schedule {
        Objects.requireNonNull(zone, "zone");
        Objects.requireNonNull(overlap, "overlap");
        boolean hasMoment;
        try {
            CronSchedule parsed = localTimes(cron);
            hasMoment = !parsed.isDisabled()
                    && parsed.getInitialExecutionTime(Instant.EPOCH).isBefore(NEVER);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "cron must have 5 fields: minute, hour, day of month, month and day of week, or 6 with the second"
                            + " first, was \"" + cron + "\": " + wrong.getMessage(),
                    wrong);
        }
        if (!hasMoment) {
            throw new IllegalArgumentException(
                    "cron must have a moment, \"" + cron + "\" has none; correct the day or the month");
        }
    }

    /**
     * Returns a schedule whose rounds {@linkplain Overlap#WAIT wait} for the end of the run before.
     *
     * @param cron the cron expression
     * @param zone its time zone
     * @return a new schedule
     * @throws IllegalArgumentException if the cron expression is not well-formed, or has no moment
     */
    public static Schedule cron(String cron, ZoneId zone) {
        return new Schedule(cron, zone, Overlap.WAIT);
    }

    /**
     * Returns this schedule with another behaviour of rounds that overlap.
     *
     * @param other the behaviour of a round that is due while the run before has not ended
     * @return a new schedule
     */
    public Schedule withOverlap(Overlap other) {
        return new Schedule(cron, zone, other);
    }

    /*
     * The expression is evaluated in local times without a zone. Between two changes of the clocks these are moments
     * with one offset; what happens at a change is decided here.
     */

    private static CronSchedule localTimes(String cron) {
        boolean hasSeconds = fields(cron).length == WITH_SECONDS;
        return new CronSchedule(cron, ZoneOffset.UTC, hasSeconds ? CronStyle.SPRING53 : CronStyle.UNIX);
    }

    private static String[] fields(String cron) {
        return cron.strip().split("\\s+", -1);
    }

    private static LocalDateTime next(CronSchedule times, LocalDateTime after) {
        Instant next = times.getInitialExecutionTime(after.toInstant(ZoneOffset.UTC));
        return LocalDateTime.ofInstant(next, ZoneOffset.UTC);
    }

    /**
     * Returns the first moment after another one.
     *
     * @param after any moment
     * @return the first moment of this schedule that is later
     */
    public Instant next(Instant after) {
        CronSchedule times = localTimes(cron);
        ZoneRules rules = zone.getRules();
        ZoneOffset offset = rules.getOffset(after);
        LocalDateTime local = LocalDateTime.ofInstant(after.truncatedTo(ChronoUnit.SECONDS), offset);
        ZoneOffsetTransition change = rules.nextTransition(after);
        while (true) {
            LocalDateTime next = next(times, local);
            Instant moment = next.toInstant(offset);
            if (change == null || moment.isBefore(change.getInstant())) {
                if (!isRepeated(times, rules.previousTransition(moment.plusSeconds(1)), moment)) {
                    return moment;
                }
                local = next;
            } else if (change.isGap() && isLeftOut(times, change)) {
                return change.getInstant();
            } else {
                local = change.getDateTimeAfter().minusSeconds(1);
                offset = change.getOffsetAfter();
                change = rules.nextTransition(change.getInstant());
            }
        }
    }

    /** Returns whether a gap leaves out a moment, and none follows within its length. */
    private static boolean isLeftOut(CronSchedule times, ZoneOffsetTransition gap) {
        LocalDateTime end = gap.getDateTimeAfter();
        return next(times, gap.getDateTimeBefore().minusSeconds(1)).isBefore(end)
                && next(times, end.minusSeconds(1)).isAfter(end.plus(gap.getDuration()));
    }

    /** Returns whether a moment is the second one of its local time, which the schedule has once. */
    private boolean isRepeated(CronSchedule times, @Nullable ZoneOffsetTransition before, Instant moment) {
        if (before == null
                || !before.isOverlap()
                || !moment.isBefore(before.getInstant().minus(before.getDuration()))) {
            return false;
        }
        String[] fields = fields(cron);
        LocalDateTime first = next(times, before.getDateTimeAfter().minusSeconds(1));
        return !fields[fields.length - HOURS_FROM_END].startsWith("*")
                && !next(times, first).isBefore(before.getDateTimeBefore());
    }

    /** Returns the latest moment that is not after now, and at least the first one, which has passed. */
    Instant latest(Instant first, Instant now) {
        Instant found = first;
        for (Duration back = Duration.ofMinutes(1);
                now.minus(back).isAfter(first) && found.equals(first);
                back = back.multipliedBy(2)) {
            Instant next = next(now.minus(back));
            found = next.isAfter(now) ? first : next;
        }
        for (Instant next = next(found); !next.isAfter(now); next = next(next)) {
            found = next;
        }
        return found;
    }
}
