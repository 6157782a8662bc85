package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.task.RetryPolicy;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The clock of the database jumps, or that of a worker. */
@Timeout(120)
class ClockTest {
    private static final int RUNS = 10;

    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final AtomicInteger offset = new AtomicInteger(); // of the clock that jumps, in seconds

    private String called(String node) {
        calls.computeIfAbsent(node, unknown -> new AtomicInteger()).incrementAndGet();
        return node;
    }

    /** A run that sleeps, waits for its second attempt and for a signal, and is undone. */
    private FlowPlan<String, String> plan() {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> first = f.node("first", c -> called(c.param() + " first"))
                .compensateWith((c, value) -> called(c.param() + " undo"));
        Node<Void> pause = f.sleep("pause", Duration.ofMillis(700)).needs(first);
        Node<String> approved = f.signal("approved", String.class).needs(pause);
        Node<String> last = f.<String, String>node("last", approved, (c, answer) -> {
                    called(c.param() + " last");
                    throw new IllegalStateException(answer);
                })
                .retry(RetryPolicy.fixedDelay(2, Duration.ofMillis(100)));
        return f.returning(last);
    }

    @ParameterizedTest
    @ValueSource(ints = {-3600, 3600})
    void runs_go_on_where_they_were_when_the_clock_of_the_database_has_jumped(int seconds) throws Exception {
        UnaryOperator<String> jump = sql ->
                sql.replaceAll("(clock_timestamp|now)\\(\\)", "($1() + interval '" + offset.get() + " seconds')");
        boolean whileTheySleep = seconds > 0; // set back, they would continue later by as much
        jumps(seconds, whileTheySleep, jump, TimeSource.system());
    }

    @ParameterizedTest
    @ValueSource(ints = {-3600, 3600})
    void runs_go_on_where_they_were_when_the_clock_of_a_worker_has_jumped(int seconds) throws Exception {
        jumps(seconds, false, UnaryOperator.identity(), new TimeSource() {
            @Override
            public long nanoTime() {
                return TimeSource.system().nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                return TimeSource.system().after(delay, action);
            }

            @Override
            public Instant instant() {
                return Instant.now().plusSeconds(offset.get());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {-600, 600})
    void moments_of_runs_are_those_of_the_database_whatever_the_clock_of_their_worker_says(int seconds)
            throws Exception {
        UnaryOperator<String> ahead =
                sql -> sql.replaceAll("(clock_timestamp|now)\\(\\)", "($1() + interval '" + seconds + " seconds')");
        FlowBuilder<String> f = FlowPlan.define("vote", String.class);
        Node<String> vote = f.signal("vote", String.class).timeout(Duration.ofMinutes(5));
        FlowPlan<String, String> plan = f.returning(vote);
        try (TestPool pool = new TestPool(database.url(), 24, ahead);
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(plan, "1", FlowCodec.text())
                        .pollInterval(Duration.ofMillis(20))
                        .start()) {
            service.submit("vote", "run-1", "p");
            Await.until(
                    "the time of the node is recorded",
                    () -> service.entries("run-1").stream()
                            .anyMatch(entry -> entry.kind().equals("DEADLINE")));
            Instant claimed = service.status("run-1").orElseThrow().begunAt(); // by the database

            assertThat(service.entries("run-1"))
                    .filteredOn(entry -> entry.kind().equals("BEGUN"))
                    .singleElement()
                    .satisfies(entry ->
                            assertThat(entry.at()).isBetween(claimed.minusSeconds(240), claimed.plusSeconds(240)));
            assertThat(service.signal("run-1", "vote", "yes")).isTrue();
            assertThat(service.await("run-1", Await.BOUND).state()).isEqualTo(RunState.SUCCESS);
        }
    }

    private void jumps(int seconds, boolean whileTheySleep, UnaryOperator<String> ofTheDatabase, TimeSource ofOneWorker)
            throws Exception {
        try (TestPool pool = new TestPool(database.url(), 24, ofTheDatabase);
                FlowService one = service(pool, ofOneWorker);
                FlowService two = service(pool, TimeSource.system())) {
            for (int run = 0; run < RUNS; run++) {
                one.submit("flow", "run-" + run, "run-" + run);
            }
            if (whileTheySleep) {
                Await.until("all have begun", () -> calls.size() == RUNS);
                offset.set(seconds);
            }
            Await.until("all wait for signals", () -> isRecorded("pause"));
            offset.set(seconds);
            for (int run = 0; run < RUNS; run++) {
                assertThat(two.signal("run-" + run, "approved", "refused")).isTrue();
            }
            for (int run = 0; run < RUNS; run++) {
                StoredRun ended = one.await("run-" + run, Await.BOUND);
                assertThat(ended.state()).isEqualTo(RunState.FAILED);
                assertThat(ended.failure().message()).isEqualTo("refused");
                for (String node : new String[] {"first", "undo", "last"}) {
                    assertThat(calls.get("run-" + run + " " + node))
                            .as("run-" + run + " " + node)
                            .hasValue(node.equals("last") ? 2 : 1);
                }
            }
        }
    }

    private boolean isRecorded(String node) {
        try {
            return database.query("SELECT count(DISTINCT run_id) FROM raddle_entry WHERE kind = 'NODE' AND node = '"
                            + node + "'")
                    .equals(String.valueOf(RUNS));
        } catch (java.sql.SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private FlowService service(TestPool pool, TimeSource time) {
        return FlowService.on(pool)
                .applySchema()
                .register(plan(), "1", FlowCodec.text(), RunOptions.defaults().withTimeSource(time))
                .pollInterval(Duration.ofMillis(20))
                .heartbeat(Duration.ofMillis(500), 10)
                .parkAfter(Duration.ZERO)
                .start();
    }
}
