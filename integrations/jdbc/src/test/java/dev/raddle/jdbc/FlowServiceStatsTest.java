package dev.raddle.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jdbc.FlowServiceStats.Execution;
import dev.raddle.processes.Await;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
class FlowServiceStatsTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final CountDownLatch begun = new CountDownLatch(1);
    private final Semaphore steps = new Semaphore(0);

    private FlowPlan<String, String> waiting() {
        FlowBuilder<String> f = FlowPlan.define("waiting", String.class);
        return f.returning(f.node("step", c -> {
            begun.countDown();
            steps.acquire();
            return c.param();
        }));
    }

    private FlowService.Builder service() {
        return database.service().register(waiting(), "1", FlowCodec.text());
    }

    @Test
    void what_a_service_executes_is_in_its_statistics_and_in_the_result_of_its_shutdown() throws Exception {
        Execution execution = new Execution("run-1", "waiting", "1");
        try (FlowService service = service().name("one").start()) {
            service.submit("waiting", "run-1", "secret");
            begun.await();
            assertThat(service.stats())
                    .hasToString("FlowServiceStats[worker=one, isClosed=false,"
                            + " isDatabaseAvailable=true, executing=[run-1 (waiting 1)], givenUp=[]]");

            assertThat(service.shutdown(Duration.ZERO)).containsExactly(execution);

            assertThat(service.stats().isClosed()).isTrue();
            assertThat(service.stats().executing()).isEmpty();
            assertThat(service.stats().givenUp()).containsExactly(execution);
            assertThat(service.shutdown(Duration.ZERO)).isEmpty();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> service.shutdown(Duration.ofMillis(-1)))
                    .withMessage("timeout must not be negative, was PT-0.001S");
        }
        steps.release(2);
        try (FlowService other = service().start()) {
            assertThat(other.await("run-1").claims()).isEqualTo(2);
            assertThat(other.shutdown(Duration.ofSeconds(5))).isEmpty();
        }
    }

    @Test
    void a_registered_plan_is_known_by_its_flow_and_version() {
        try (FlowService service = service().start()) {
            assertThat(service.plan("waiting", "1").orElseThrow().name()).isEqualTo("waiting");
            assertThat(service.plan("waiting", "2")).isEmpty();
            assertThat(service.plan("waiting/1", "")).isEmpty();
        }
    }

    @Test
    void a_shutdown_waits_for_a_run_that_ends_in_time() throws Exception {
        FlowService service = service().start();
        service.submit("waiting", "run-1", "");
        begun.await();
        Thread closing = Thread.ofVirtual()
                .start(() -> assertThat(service.shutdown(Duration.ofDays(1))).isEmpty());
        Await.until("the service is closed", () -> service.stats().isClosed());
        steps.release();
        closing.join();
        try (FlowService other = database.service().start()) {
            assertThat(other.status("run-1").orElseThrow().state()).isEqualTo(RunState.SUCCESS);
        }
    }

    @Test
    void runs_are_counted_by_their_states_and_at_most_as_many_as_the_filter_permits() throws Exception {
        steps.release(2);
        try (FlowService service = service().maxRuns(1).start()) {
            service.submit("waiting", "run-1", "");
            service.submit("waiting", "run-2", "");
            service.await("run-1");
            service.await("run-2");
            service.submit("waiting", "run-3", "");
            service.submit("waiting", "run-4", "");
            Await.until(
                    "a run is executed", () -> service.count(RunFilter.all()).containsKey(RunState.RUNNING));

            assertThat(service.count(RunFilter.all()))
                    .isEqualTo(Map.of(RunState.SUCCESS, 2, RunState.RUNNING, 1, RunState.WAITING, 1));
            assertThat(service.count(RunFilter.all().in(RunState.SUCCESS))).isEqualTo(Map.of(RunState.SUCCESS, 2));
            assertThat(service.count(RunFilter.all().in(RunState.SUCCESS).limit(1)))
                    .isEqualTo(Map.of(RunState.SUCCESS, 1));
            assertThat(service.count(RunFilter.all().flow("other"))).isEmpty();
            service.shutdown(Duration.ZERO);
        }
    }

    @Test
    void a_service_notices_that_the_database_is_away_and_back() throws Exception {
        AtomicBoolean away = new AtomicBoolean();
        TestPool pool = new TestPool(database.url(), 24, sql -> {
            if (away.get()) {
                throw new IllegalStateException("no connection");
            }
            return sql;
        });
        try (pool;
                FlowService service = FlowService.on(pool)
                        .applySchema()
                        .register(waiting(), "1", FlowCodec.text())
                        .pollInterval(Duration.ofMillis(20))
                        .start()) {
            service.submit("waiting", "run-1", "");
            begun.await();
            away.set(true);
            Await.until("it is noticed", () -> !service.stats().isDatabaseAvailable());
            away.set(false);
            Await.until("it is noticed", () -> service.stats().isDatabaseAvailable());
            service.shutdown(Duration.ZERO);
        }
    }
}
