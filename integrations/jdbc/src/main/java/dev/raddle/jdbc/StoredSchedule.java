package dev.raddle.jdbc;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as the database had it in one moment.
 *
 * @param name the name
 * @param flow the flow of its runs
 * @param schedule its moments
 * @param nextAt the moment of the next round, which has passed if that is due; null while the schedule is paused
 * @param lastRun the id of the run of the latest round, which may have been removed after its end; null if there was
 *     none
 * @param problem why a round that is due was not submitted yet; null if there is none
 */
public record StoredSchedule(
        String name,
        String flow,
        Schedule schedule,
        @Nullable Instant nextAt,
        @Nullable String lastRun,
        @Nullable String problem) {

    /**
     * Returns whether the schedule is paused.
     *
     * @return whether it has no next round before it is {@linkplain FlowService#resumeSchedule resumed}
     */
    public boolean isPaused() {
        return nextAt == null;
    }
}
