package dev.raddle.bench;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredRun;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Timeout;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How many empty nodes per second does one worker execute and record in PostgreSQL, which forces each commit to the
 * disk? The peers are DBOS, whose steps are recorded in the same way, and db-scheduler, whose empty tasks are only
 * removed; they have the same server, pool of connections and number of threads. The benchmark fails unless every node,
 * step and task is found in the database.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@Fork(
        value = 3,
        jvmArgs = {Jvm.QUIET})
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Timeout(time = 2, timeUnit = TimeUnit.MINUTES)
public class DurableDatabase {

    private static final Duration PATIENCE = Duration.ofSeconds(EmptyNodes.PATIENCE_SECONDS);

    /** More tasks than db-scheduler executes in a measurement. */
    private static final int TASKS = 100_000;

    /** The duration of the measurement. */
    @Param("2")
    public int seconds;

    /** Raddle, one chain at a time. */
    @Benchmark
    public void raddleChain() throws Exception {
        measure(EmptyNodes::chain, 1);
    }

    /** Raddle, one fan at a time. */
    @Benchmark
    public void raddleFan() throws Exception {
        measure(EmptyNodes::fan, 1);
    }

    /** Raddle, several chains at once. */
    @Benchmark
    public void raddleRuns() throws Exception {
        measure(EmptyNodes::chain, EmptyNodes.RUNS);
    }

    /** DBOS, one workflow at a time. */
    @Benchmark
    public void dbosChain() throws Exception {
        measureDbos(1);
    }

    /** DBOS, several workflows at once. */
    @Benchmark
    public void dbosRuns() throws Exception {
        measureDbos(EmptyNodes.RUNS);
    }

    private static FlowService.Builder service(PostgresProcess server) {
        return FlowService.on(server.pool()).applySchema();
    }

    private void measure(Function<EmptyNodes, FlowPlan<String, String>> planOf, int runs) throws Exception {
        EmptyNodes nodes = new EmptyNodes();
        FlowPlan<String, String> plan = planOf.apply(nodes);
        try (PostgresProcess server = PostgresProcess.start()) {
            try (FlowService service = service(server)
                    .register(plan, "1", FlowCodec.text())
                    .maxRuns(EmptyNodes.RUNS)
                    .start()) {
                nodes.measure(runs, seconds, id -> run(service, plan.name(), id));
            }
            nodes.requireRecorded(server.count("raddle_entry WHERE kind = 'NODE' AND state = 'SUCCESS'"));
        }
    }

    private static void run(FlowService service, String flow, String id) throws Exception {
        service.submit(flow, id, "x");
        StoredRun run = service.await(id, PATIENCE);
        if (run.state() != RunState.SUCCESS) {
            throw new IllegalStateException(run.toString());
        }
    }

    private void measureDbos(int runs) throws Exception {
        EmptyNodes nodes = new EmptyNodes();
        try (PostgresProcess server = PostgresProcess.start()) {
            try (DbosChains chains = DbosChains.start(server.pool(), nodes)) {
                nodes.measure(runs, seconds, id -> chains.run());
            }
            nodes.requireRecorded(server.count(DbosChains.STEPS));
        }
    }

    /** Tasks of db-scheduler that are due, in a table like that of Raddle. */
    @Benchmark
    public void dbScheduler() throws Exception {
        try (PostgresProcess server = PostgresProcess.start()) {
            service(server).submitOnly().start().close(); // creates the table
            server.execute("INSERT INTO raddle_task (task_name, task_instance, execution_time, picked, version)"
                    + " SELECT 'empty', n::text, now(), false, 1 FROM generate_series(1, " + TASKS + ") AS n");
            server.execute("ANALYZE raddle_task");
            EmptyNodes nodes = new EmptyNodes();
            executeTasks(server, nodes);
            long left = server.count("raddle_task");
            if (left == 0) {
                throw new IllegalStateException("all " + TASKS + " tasks ended before the measurement did");
            }
            nodes.requireRecorded(TASKS - left);
        }
    }

    private void executeTasks(PostgresProcess server, EmptyNodes nodes) {
        OneTimeTask<Void> empty = Tasks.oneTime("empty").execute((instance, context) -> nodes.execute());
        Scheduler scheduler = Scheduler.create(server.pool(), empty)
                .tableName("raddle_task")
                .threads(EmptyNodes.RUNS)
                .executorService(Executors.newVirtualThreadPerTaskExecutor())
                .pollUsingLockAndFetch(1.0, 4.0)
                .commitWhenAutocommitDisabled(true)
                .build();
        scheduler.start();
        try {
            nodes.measure(seconds);
        } finally {
            scheduler.stop();
        }
    }

    static List<Row> rows(Results results) {
        Stat tasks = rate(results, "dbScheduler");
        Stat several = rate(results, "raddleRuns");
        String runs = "nodes of " + EmptyNodes.RUNS + " chains at once";
        return List.of(
                row("nodes of a chain", rate(results, "raddleChain"), "steps of DBOS", rate(results, "dbosChain")),
                row("nodes of a fan of 100", rate(results, "raddleFan"), "tasks of db-scheduler", tasks)
                        .atLeast(400),
                row(runs, several, "steps of DBOS", rate(results, "dbosRuns")).atLeast(400),
                row(runs, several, "tasks of db-scheduler", tasks));
    }

    private static Row row(String what, Stat measured, String peer, Stat answer) {
        return Row.of("PostgreSQL: " + what, measured, EmptyNodes.UNIT).against(peer, answer);
    }

    private static Stat rate(Results results, String method) {
        return results.note(EmptyNodes.RATE, "DurableDatabase." + method);
    }
}
