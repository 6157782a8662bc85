package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.FlowServiceStats;
import dev.raddle.jdbc.FlowServiceStats.Execution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/*
 * Overview.
 *
 * Closing a service needs the database: it returns the runs that it gives up. If the database is away, it may take as
 * long as the data source waits for connections, several times. So each service is closed by a thread of its own, all
 * at the same time, and the shutdown waits for these threads for the time of the runs and a grace. A thread that has
 * not ended by then ends when the data source gives up or is closed. Nothing is lost: other workers take the runs over
 * when the heartbeats are missing, and this worker's writes are fenced.
 */

/** The flow services of the application: the configured one, or those that the application creates. */
final class FlowServices implements DurableRuns {

    private static final Logger LOGGER = LoggerFactory.getLogger("dev.raddle.shutdown");

    private final ConfigurableListableBeanFactory beans;
    private final Duration forRuns;
    private final Duration grace;
    private final Map<FlowService, RunCounts> counts = new ConcurrentHashMap<>();

    /**
     * Creates the view of a factory's beans.
     *
     * @param forRuns the longest time in which a shutdown waits for runs
     * @param grace the time for returning runs to the database, in addition
     */
    FlowServices(ConfigurableListableBeanFactory beans, Duration forRuns, Duration grace) {
        this.beans = beans;
        this.forRuns = forRuns;
        this.grace = grace;
    }

    /** Returns the services that exist, in the order of their definitions. None is created. */
    Map<String, FlowService> created() {
        Map<String, FlowService> services = new LinkedHashMap<>();
        for (String name : beans.getBeanNamesForType(FlowService.class, false, false)) {
            if (beans.containsSingleton(name)) {
                services.put(name, beans.getBean(name, FlowService.class));
            }
        }
        return services;
    }

    // The shutdown.

    @Override
    public void shutDown() {
        long begun = System.nanoTime();
        List<Closing> all = new ArrayList<>();
        created().forEach((name, service) -> all.add(close(name, service, forRuns)));
        for (Closing closing : all) {
            Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
            report(closing, forRuns.plus(grace).minus(elapsed));
        }
    }

    /** A service that is being closed, and the runs that are left then. */
    private record Closing(String name, FlowService service, CompletableFuture<List<Execution>> left) {}

    private static Closing close(String name, FlowService service, Duration timeout) {
        CompletableFuture<List<Execution>> left = new CompletableFuture<>();
        Thread.ofVirtual().name("raddle-close-" + name).start(() -> {
            try {
                left.complete(service.shutdown(timeout));
            } catch (Throwable failure) {
                left.completeExceptionally(failure);
            }
        });
        return new Closing(name, service, left);
    }

    private static void report(Closing closing, Duration timeout) {
        String name = closing.name();
        long nanos = TimeUnit.NANOSECONDS.convert(timeout); // saturates
        try {
            List<Execution> left = closing.left().get(nanos, TimeUnit.NANOSECONDS);
            if (left.isEmpty()) {
                LOGGER.debug("flow service \"{}\" was shut down: all of its runs have ended", name);
            } else {
                LOGGER.warn("flow service \"{}\" was shut down; left to other workers: {}", name, textOf(left));
            }
        } catch (TimeoutException away) {
            LOGGER.warn(
                    "flow service \"{}\" cannot return its runs, the database may be unavailable; other workers take"
                            + " them over when their heartbeats are missing: {}",
                    name,
                    textOf(unfinished(closing.service().stats())));
        } catch (ExecutionException failure) {
            LOGGER.warn("flow service \"{}\" could not be shut down", name, failure.getCause());
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private static Collection<Execution> unfinished(FlowServiceStats stats) {
        Collection<Execution> runs = new LinkedHashSet<>(stats.executing());
        runs.addAll(stats.givenUp());
        return runs;
    }

    private static List<String> textOf(Collection<Execution> runs) {
        return UnfinishedTasks.withoutRest(
                runs.stream().map(Execution::toString).map(ShortText::sentence).toList());
    }

    // The endpoint.

    /**
     * A service, for the endpoint.
     *
     * @param executing the number of runs that this process executes
     * @param runs some of them, by their names
     * @param counts the runs in the database, of this and all other workers
     */
    record Report(
            String worker,
            boolean closed,
            boolean databaseAnswers,
            int executing,
            List<String> runs,
            RunCounts.Answer counts) {}

    private RunCounts countsOf(FlowService service) {
        return counts.computeIfAbsent(service, key -> new RunCounts(key, RunCounts.PATIENCE));
    }

    @Override
    public Map<String, Report> reports() {
        Map<String, Report> reports = new TreeMap<>();
        created().forEach((name, service) -> {
            FlowServiceStats stats = service.stats();
            reports.put(
                    name,
                    new Report(
                            stats.worker(),
                            stats.isClosed(),
                            stats.isDatabaseAvailable(),
                            stats.executing().size(),
                            textOf(stats.executing()),
                            countsOf(service).get()));
        });
        return reports;
    }
}
