package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunFilter;
import dev.raddle.jdbc.RunState;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Overview.
 *
 * A page is loaded again and again, most of all while the database has trouble. So a query has a bound in rows, its
 * readers wait for a bounded time, and at most one query is under way: readers that come meanwhile wait for its answer.
 * A query that the database never answers holds one connection and one virtual thread until the data source gives up.
 */

/** Counts the runs in the database of one service. */
final class RunCounts {

    /** The greatest number of runs of a kind that are counted, open ones and ended ones. */
    static final int MOST = 10_000;

    private static final Logger LOGGER = LoggerFactory.getLogger("dev.raddle.endpoint");
    /** How long a reader waits for an answer. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * The numbers of runs.
     *
     * @param byState the numbers; null if there is no answer
     * @param countedAtMost how many open runs, and how many of the newest ended ones, are counted
     * @param problem the reason why there is no answer; null if there is one
     */
    record Answer(
            @Nullable Map<RunState, Integer> byState,
            int countedAtMost,
            @Nullable String problem) {}

    private final FlowService service;
    private final Duration patience;
    private final AtomicReference<@Nullable CompletableFuture<Map<RunState, Integer>>> underWay =
            new AtomicReference<>();

    RunCounts(FlowService service, Duration patience) {
        this.service = service;
        this.patience = patience;
    }

    Answer get() {
        try {
            return new Answer(query().get(patience.toNanos(), TimeUnit.NANOSECONDS), MOST, null);
        } catch (TimeoutException late) {
            return new Answer(null, MOST, "the database has not answered within " + patience.toMillis() + " ms");
        } catch (ExecutionException failure) {
            return new Answer(null, MOST, "the database cannot be read; the log has the reason");
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return new Answer(null, MOST, "the query was interrupted");
        }
    }

    /** Returns the query that is under way, or begins one. */
    CompletableFuture<Map<RunState, Integer>> query() {
        while (true) {
            CompletableFuture<Map<RunState, Integer>> known = underWay.get();
            if (known != null && !known.isDone()) {
                return known;
            }
            CompletableFuture<Map<RunState, Integer>> next = new CompletableFuture<>();
            if (underWay.compareAndSet(known, next)) {
                Thread.ofVirtual().name("raddle-count-runs").start(() -> complete(next));
                return next;
            }
        }
    }

    private void complete(CompletableFuture<Map<RunState, Integer>> answer) {
        try {
            RunFilter most = RunFilter.all().limit(MOST);
            Map<RunState, Integer> counts =
                    new TreeMap<>(service.count(most.in(RunState.WAITING, RunState.WITHOUT_VERSION, RunState.RUNNING)));
            counts.putAll(service.count(most.in(
                    RunState.SUCCESS,
                    RunState.DEGRADED,
                    RunState.FAILED,
                    RunState.TIMED_OUT,
                    RunState.CANCELLED,
                    RunState.STUCK)));
            answer.complete(counts);
        } catch (Throwable failure) {
            LOGGER.warn("the runs of flows cannot be counted: {}", failure.getMessage());
            answer.completeExceptionally(failure);
        }
    }
}
