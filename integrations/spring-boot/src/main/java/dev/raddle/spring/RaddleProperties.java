package dev.raddle.spring;

import dev.raddle.group.LostPermitPolicy;
import dev.raddle.group.RejectionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties that begin with {@code raddle}. They are checked before any bean is created; a property that is
 * unknown or out of range prevents the start, with a message that names it. What is not set has the default of the
 * core.
 *
 * {@snippet lang = yaml :
 * raddle:
 *   groups:
 *     tenants:
 *       max-concurrency: 2
 *       max-concurrency-by-key.acme: 8
 *       global-max-in-flight: 64
 *       queue-threshold: 100
 *       rate: 50/s
 *   pools:
 *     reports:
 *       threads: 4
 *       queue-capacity: 1000
 * }
 *
 * @param groups group executors, by the names of their beans
 * @param pools thread pools, by the names of their beans
 * @param grouped methods with {@link Grouped}
 * @param web the answers to requests that were rejected
 * @param shutdown the shutdown
 * @param metrics meters
 * @param health the health of groups, pools and the fleet
 * @param redis the fleet, whose connection is configured by {@code spring.data.redis}
 * @param flows the service that keeps runs of flows in a database
 * @param console the console
 */
@ConfigurationProperties(prefix = "raddle", ignoreUnknownFields = false)
public record RaddleProperties(
        @DefaultValue Map<String, Group> groups,
        @DefaultValue Map<String, Pool> pools,
        @DefaultValue Methods grouped,
        @DefaultValue Web web,
        @DefaultValue Shutdown shutdown,
        @DefaultValue Metrics metrics,
        @DefaultValue Health health,
        @DefaultValue Redis redis,
        @DefaultValue Flows flows,
        @DefaultValue Console console) {

    /**
     * A group executor.
     *
     * @param maxConcurrency how many tasks of a key run at once; 1 by default
     * @param maxConcurrencyByKey how many tasks of single keys run at once
     * @param globalMaxInFlight how many slots may be taken by all keys together; no limit by default
     * @param maxInFlight the bulkhead of a key: how many of its tasks may execute at once, whatever its concurrency is
     * @param maxInFlightByKey the bulkheads of single keys
     * @param queueThreshold how many tasks of a key may wait; no limit by default
     * @param queueThresholdByKey how many tasks of single keys may wait
     * @param globalQueueThreshold how many tasks of all keys together may wait; no limit by default
     * @param queueTimeout how long a task may wait before it is rejected; no limit by default
     * @param rate how many tasks of a key may start per time, such as "100/s", "5000/h", "10/s burst 1" or "300/m
     * strict"
     * @param rateByKey the rates of single keys
     * @param globalRate how many tasks of all keys together may start per time
     * @param breaker the circuit breaker of each key; none by default
     * @param rejectionPolicy the treatment of rejected tasks
     * @param lostPermits what happens to running tasks whose permits the fleet has lost
     * @param idleGroupTtl how long a group without tasks is kept
     * @param maxIdleGroups how many groups without tasks are kept
     * @param reuseThreads whether a thread that has run a task runs the next waiting task of the same key
     * @param fleet whether the tasks need permits of the fleet, if there is one
     * @param pool the name of the pool that runs the tasks; each has a virtual thread of its own by default
     */
    public record Group(
            @Nullable Integer maxConcurrency,
            @DefaultValue Map<String, Integer> maxConcurrencyByKey,
            @Nullable Integer globalMaxInFlight,
            @Nullable Integer maxInFlight,
            @DefaultValue Map<String, Integer> maxInFlightByKey,
            @Nullable Integer queueThreshold,
            @DefaultValue Map<String, Integer> queueThresholdByKey,
            @Nullable Integer globalQueueThreshold,
            @Nullable Duration queueTimeout,
            @Nullable String rate,
            @DefaultValue Map<String, String> rateByKey,
            @Nullable String globalRate,
            @Nullable Breaker breaker,
            @Nullable RejectionPolicy rejectionPolicy,
            @Nullable LostPermitPolicy lostPermits,
            @Nullable Duration idleGroupTtl,
            @Nullable Integer maxIdleGroups,
            @Nullable Boolean reuseThreads,
            @DefaultValue("true") boolean fleet,
            @Nullable String pool) {}

    /**
     * The rule of a circuit breaker. Each key has a state of its own.
     *
     * @param failureRate the part of the latest tasks that opens it when they have failed, more than 0 and at most 1;
     *     must be set
     * @param over the latest tasks: a number of them, such as "100", or those of a time, such as "60s"; 100 by default
     * @param atLeast the number of tasks before which it does not open; 20 by default
     * @param slowerThan the run time of the slowest task that is not slow; no task is slow by default
     * @param slowRate the part of the latest tasks that opens it when they were slow, more than 0 and at most 1
     * @param openFor the time to the first probe, which doubles with each round of probes that fails; 30 seconds by
     *     default
     * @param maxOpen the longest time to the next probe; ten minutes by default
     * @param probes how many tasks start half-open, and decide; 5 by default
     * @param countWhen the types of the exceptions that are failures of the callee; all by default
     * @param openWaits whether tasks wait while it is open; otherwise they are rejected
     */
    public record Breaker(
            @Nullable Double failureRate,
            @Nullable String over,
            @Nullable Integer atLeast,
            @Nullable Duration slowerThan,
            @Nullable Double slowRate,
            @Nullable Duration openFor,
            @Nullable Duration maxOpen,
            @Nullable Integer probes,
            @DefaultValue List<Class<? extends Throwable>> countWhen,
            @DefaultValue("false") boolean openWaits) {}

    /**
     * A thread pool.
     *
     * @param threads the number of threads; that of the processors by default
     * @param coreThreads the number of threads to keep even if they are idle
     * @param maxThreads the maximum number of threads
     * @param queueCapacity how many tasks may wait; no limit by default
     * @param keepAlive how long a thread beyond the core size is kept without a task
     * @param allowCoreTimeout whether core threads end as well when they are idle
     * @param scaleBeforeQueueing whether threads are started up to the maximum before tasks are queued
     * @param stuckAfter how long a task may run before it is reported as stuck
     * @param rejection what happens to a task that is not accepted
     * @param blockTimeout how long a submitter waits under the rejection "block"; no limit by default
     */
    public record Pool(
            @Nullable Integer threads,
            @Nullable Integer coreThreads,
            @Nullable Integer maxThreads,
            @Nullable Integer queueCapacity,
            @Nullable Duration keepAlive,
            @Nullable Boolean allowCoreTimeout,
            @Nullable Boolean scaleBeforeQueueing,
            @Nullable Duration stuckAfter,
            @DefaultValue("abort") Rejection rejection,
            @Nullable Duration blockTimeout) {

        /** What happens to a task that a pool does not accept. */
        public enum Rejection {
            /** The submitter gets an exception. */
            ABORT,
            /** The submitter runs the task. */
            CALLER_RUNS,
            /** The submitter waits until the task is accepted. */
            BLOCK,
            /** The task is dropped. */
            DISCARD,
            /** The oldest waiting task is dropped. */
            DISCARD_OLDEST
        }
    }

    /**
     * Methods with {@link Grouped}.
     *
     * @param enabled whether the annotation has an effect
     */
    public record Methods(@DefaultValue("true") boolean enabled) {}

    /**
     * The answers to requests whose tasks were rejected.
     *
     * @param enabled whether rejections become the statuses 429 and 503
     * @param retryAfter the value of the header Retry-After, in whole seconds
     */
    public record Web(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1s") Duration retryAfter) {}

    /**
     * The shutdown.
     *
     * @param timeout the time within which runs of flows and the tasks of all groups and pools may end before they are
     *     interrupted
     */
    public record Shutdown(@DefaultValue("30s") Duration timeout) {}

    /**
     * Meters.
     *
     * @param topKeys how many keys of a group executor have meters of their own
     */
    public record Metrics(@DefaultValue("100") int topKeys) {}

    /**
     * The health of groups, pools and the fleet.
     *
     * @param downOnFleetOutage whether the health is DOWN while the fleet's server does not answer and no task can
     *     start because of that
     * @param downOnOpenBreaker whether the health is DOWN while the circuit breaker of a key is open and its next probe
     *     not yet due
     */
    public record Health(
            @DefaultValue("false") boolean downOnFleetOutage,
            @DefaultValue("false") boolean downOnOpenBreaker) {}

    /**
     * The fleet.
     *
     * @param enabled whether there is a fleet if its library is there
     * @param namespace the namespace, which all instances share; the application's name by default
     * @param lease how long permits remain with an instance that does not answer
     * @param slice how long a permit serves one task of this instance after the other before others may have it
     * @param outageMode what starts while the server does not answer: "closed", "open" or a number of permits of
     *     each key
     * @param instanceName the name of this instance in explanations
     */
    public record Redis(
            @DefaultValue("true") boolean enabled,
            @Nullable String namespace,
            @Nullable Duration lease,
            @Nullable Duration slice,
            @DefaultValue("closed") String outageMode,
            @Nullable String instanceName) {}

    /**
     * The service that keeps runs of flows in a database. There is one if {@code raddle-jdbc}, a {@code DataSource} and
     * a {@link FlowRegistration} are there.
     *
     * @param enabled whether there is a service if its library is there
     * @param dataSource the name of the data source; the only one, or the primary one, by default
     * @param applySchema whether the service creates and updates its tables at the start; otherwise they must exist
     * @param submitOnly whether the service executes no runs, so that others must
     * @param workerName the name of this worker, which must be unique
     * @param maxRuns how many runs are executed at once; 16 by default
     * @param heartbeat the time between two heartbeats of a run
     * @param missedHeartbeats how many heartbeats may be missing before other workers take the run over
     * @param pollInterval how often the service looks for runs of other workers; every 500 ms by default
     * @param retention how long runs that have ended are kept; seven days by default
     * @param closeTimeout the part of the shutdown's timeout in which runs may end before they are left to other
     *     workers; half of it by default
     */
    public record Flows(
            @DefaultValue("true") boolean enabled,
            @Nullable String dataSource,
            @DefaultValue("false") boolean applySchema,
            @DefaultValue("false") boolean submitOnly,
            @Nullable String workerName,
            @Nullable Integer maxRuns,
            @DefaultValue("1s") Duration heartbeat,
            @DefaultValue("10") int missedHeartbeats,
            @Nullable Duration pollInterval,
            @Nullable Duration retention,
            @Nullable Duration closeTimeout) {}

    /**
     * The console, a page that shows what runs now. There is one if {@code raddle-console} is there and it is enabled.
     *
     * @param enabled whether there is a console
     * @param port the port; 0 for any free one
     * @param host the address to listen at; one that other machines can reach needs a token
     * @param token the token, at least 16 characters; by default that of the environment variable RADDLE_CONSOLE_TOKEN
     * @param tokenFile the file with the token
     * @param controls whether a user may change limits, and cancel tasks and runs, which needs a token
     * @param clients how many pages may be open at the same time
     * @param allowedHosts the names under which the console is reached, besides localhost, addresses and the host
     */
    public record Console(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("9090") int port,
            @DefaultValue("localhost") String host,
            @Nullable String token,
            @Nullable String tokenFile,
            @DefaultValue("false") boolean controls,
            @DefaultValue("50") int clients,
            @DefaultValue List<String> allowedHosts) {}
}
