package dev.raddle.jdbc;

import com.github.kagkarlsson.scheduler.task.schedule.CronSchedule;
import com.github.kagkarlsson.scheduler.task.schedule.CronStyle;
import dev.raddle.task.CheckReturnValue;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.Objects;

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
 * once, the first time; one with several moments in it has them twice.
 *
 * @param cron five fields as in a crontab: minute, hour, day of month, month, day of week; or six, with the second
 *     first. If both kinds of days are restricted in five fields, either may match
 * @param zone the time zone of the fields
 * @param overlap the behaviour of a round that is due while the run before has not ended
 */
@CheckReturnValue
public record Schedule(String cron, ZoneId zone, Overlap overlap) {

    private static final int WITH_SECONDS = 6;
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
            CronSchedule parsed = moments(cron, zone);
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

    private static CronSchedule moments(String cron, ZoneId zone) {
        boolean hasSeconds = cron.strip().split("\\s+", -1).length == WITH_SECONDS;
        return new CronSchedule(cron, zone, hasSeconds ? CronStyle.SPRING53 : CronStyle.UNIX);
    }

    /**
     * Returns the first moment after another one.
     *
     * @param after any moment
     * @return the first moment of this schedule that is later
     */
    public Instant next(Instant after) {
        Instant next = moments(cron, zone).getInitialExecutionTime(after);
        ZoneOffsetTransition change = zone.getRules().nextTransition(after);
        while (change != null && change.getInstant().plus(change.getDuration()).isBefore(next)) {
            if (change.isGap() && hasMomentIn(change)) {
                return change.getInstant();
            }
            change = zone.getRules().nextTransition(change.getInstant());
        }
        return next;
    }

    /** Returns whether there would be a moment in the local times that a gap leaves out. */
    private boolean hasMomentIn(ZoneOffsetTransition gap) {
        LocalDateTime begin = gap.getDateTimeBefore();
        Instant would = moments(cron, ZoneOffset.UTC)
                .getInitialExecutionTime(begin.minusSeconds(1).toInstant(ZoneOffset.UTC));
        return would.isBefore(gap.getDateTimeAfter().toInstant(ZoneOffset.UTC));
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
