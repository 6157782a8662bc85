package dev.raddle.jdbc;

import dev.raddle.flow.RecordedFailure;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A run as the database had it in one moment.
 *
 * @param id the id of the run
 * @param flow the name of its flow
 * @param version the version of the flow that the run began with
 * @param state the state
 * @param claims the number of times that a worker has claimed the run
 * @param worker the worker of the last claim; null before the first one
 * @param createdAt the moment at which the run was submitted
 * @param begunAt the moment of the first claim; null before that
 * @param endedAt the end of the run; null before that
 * @param failure why a run that has ended has no value, or failed, as {@link dev.raddle.flow.FlowResult#failure()}
 *     says; null if there is no such exception
 * @param problem the reason why the run cannot continue at the moment, or is STUCK, or, if it has ended, why it has no
 *     value
 *     although it has succeeded, or that compensations have failed; null if there is none
 * @param waitsUntil the moment at which a run that no worker executes because it only sleeps, or waits for a signal,
 *     continues by itself; {@link Instant#MAX} if only a signal can continue it; null if no such run
 */
public record StoredRun(
        String id,
        String flow,
        String version,
        RunState state,
        long claims,
        @Nullable String worker,
        Instant createdAt,
        @Nullable Instant begunAt,
        @Nullable Instant endedAt,
        @Nullable RecordedFailure failure,
        @Nullable String problem,
        @Nullable Instant waitsUntil) {

    /**
     * Returns why the run does not continue at the moment, or has no value: its problem, what it waits for, or its
     * failure.
     *
     * @return the first of these that there is, for people, or null
     */
    public @Nullable String reason() {
        if (problem != null) {
            return problem;
        }
        if (waitsUntil != null) {
            return waitsUntil.equals(Instant.MAX)
                    ? "waits for a signal"
                    : "waits until " + waitsUntil.truncatedTo(ChronoUnit.SECONDS);
        }
        return failure == null ? null : failure.toString();
    }

    StoredRun withProblem(String text) {
        return new StoredRun(
                id, flow, version, state, claims, worker, createdAt, begunAt, endedAt, failure, text, waitsUntil);
    }
}
