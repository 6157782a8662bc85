package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class FlowReportTest {
    @RegisterExtension
    final LocalPostgres database = new LocalPostgres();

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private BrokenSource source;

    private ApplicationContextRunner runner() {
        source = new BrokenSource(database.source());
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RaddleAutoConfiguration.class,
                        FlowAutoConfiguration.class,
                        FlowHealthAutoConfiguration.class,
                        HealthAutoConfiguration.class,
                        EndpointAutoConfiguration.class))
                .withBean(DataSource.class, () -> source)
                .withBean("blocking", FlowRegistration.class, () -> Flows.blocking(begun, end))
                .withBean("greeting", FlowRegistration.class, () -> Flows.greetingOf("1"))
                .withPropertyValues(
                        "raddle.flows.apply-schema=true",
                        "raddle.flows.poll-interval=20ms",
                        "raddle.flows.worker-name=worker-7",
                        "raddle.flows.close-timeout=0s",
                        "management.endpoints.web.exposure.include=raddle");
    }

    @AfterEach
    void repair() {
        source.repair();
    }

    @Test
    void the_endpoint_shows_what_this_process_executes_and_the_runs_in_the_database_by_their_states() {
        runner().run(context -> {
            FlowService service = context.getBean(FlowService.class);
            service.submit("greeting", "hello-1", "a secret");
            service.await("hello-1");
            service.submit("blocking", "order-17", "a secret");
            begun.await();

            Map<String, Object> services =
                    context.getBean(RaddleEndpoint.class).overview().flowServices();

            assertThat(JsonMapper.builder().build().writeValueAsString(services))
                    .isEqualTo("{\"raddleFlowService\":{\"worker\":\"worker-7\",\"closed\":false,"
                            + "\"databaseAnswers\":true,\"executing\":1,\"runs\":[\"order-17 (blocking 1)\"],"
                            + "\"counts\":{\"byState\":{\"RUNNING\":1,\"SUCCESS\":1},\"countedAtMost\":10000,"
                            + "\"problem\":null}}}");
        });
    }

    @Test
    void without_a_service_the_endpoint_shows_none() {
        runner().withPropertyValues("raddle.flows.enabled=false").run(context -> {
            assertThat(context.getBean(RaddleEndpoint.class).overview().flowServices())
                    .isEmpty();
            assertThat(context.getBean(RaddleHealthIndicator.class).health().getDetails())
                    .isEmpty();
        });
    }

    @Test
    void the_endpoint_answers_while_the_database_is_away() {
        runner().run(context -> {
            source.throwExceptions();
            assertThat(context.getBean(RaddleEndpoint.class)
                            .overview()
                            .flowServices()
                            .toString())
                    .contains("worker-7")
                    .contains("byState=null", "problem=the database cannot be read; the log has the reason");
        });
    }

    @Test
    void a_database_that_is_away_does_not_change_the_status_of_the_health() {
        runner().run(context -> {
            FlowService service = context.getBean(FlowService.class);
            service.submit("blocking", "order-17", "");
            begun.await();
            RaddleHealthIndicator indicator = context.getBean(RaddleHealthIndicator.class);
            assertThat(indicator.health().getDetails())
                    .hasToString("{flowServices={raddleFlowService="
                            + "{executing=1, databaseAnswers=true, closed=false}}}");
            source.throwExceptions();
            while (service.stats().isDatabaseAvailable()) {
                Thread.onSpinWait(); // until the service has looked, every 20 ms
            }

            Health health = indicator.health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().toString()).contains("databaseAnswers=false");
        });
    }

    @Test
    void readers_wait_for_a_bounded_time_and_at_most_one_query_is_under_way() {
        runner().withPropertyValues("raddle.flows.submit-only=true").run(context -> {
            FlowService service = context.getBean(FlowService.class);
            RunCounts counts = new RunCounts(service, Duration.ZERO);
            source.hang();
            CompletableFuture<Map<RunState, Integer>> query = counts.query();
            assertThat(counts.get().problem()).isEqualTo("the database has not answered within 0 ms");
            assertThat(counts.query()).isSameAs(query);
            source.repair();
            assertThat(query.join()).isEmpty();
            assertThat(counts.query()).isNotSameAs(query);
            service.submit("greeting", "hello-1", "Ada");
            assertThat(new RunCounts(service, Duration.ofDays(1)).get().byState())
                    .isEqualTo(Map.of(RunState.WITHOUT_VERSION, 1));
        });
    }
}
