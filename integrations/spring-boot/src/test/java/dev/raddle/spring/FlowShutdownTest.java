package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.pool.ThreadPool;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;

@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class FlowShutdownTest {
    @RegisterExtension
    final LocalPostgres database = new LocalPostgres();

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.raddle.shutdown");
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, FlowAutoConfiguration.class))
            .withBean("closing", ApplicationListener.class, () ->
                    (ApplicationListener<ContextClosedEvent>) event -> closing.countDown())
            .withBean(DataSource.class, () -> database.source())
            .withPropertyValues(
                    "raddle.flows.apply-schema=true",
                    "raddle.flows.poll-interval=20ms",
                    "raddle.groups.mail.max-concurrency=1",
                    "raddle.pools.workers.threads=1");

    @BeforeEach
    void capture() {
        logger.setLevel(Level.DEBUG);
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void release() {
        logger.detachAppender(log);
        logger.setLevel(null);
    }

    @Test
    void runs_are_shut_down_before_the_groups_and_pools_that_they_use() {
        AtomicBoolean open = new AtomicBoolean();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class))
                .withPropertyValues("raddle.groups.mail.max-concurrency=1", "raddle.pools.workers.threads=1")
                .withInitializer(context -> context.getBeanFactory()
                        .registerSingleton(
                                "runs",
                                new Recording(() -> open.set(
                                        !context.getBean(GroupExecutor.class).isShutdown()
                                                && context.getBean(ThreadPool.class)
                                                                .stats()
                                                                .runState()
                                                        == ThreadPool.RunState.RUNNING))))
                .run(context -> assertThat(open).isFalse());
        assertThat(open).isTrue();
    }

    private record Recording(Runnable action) implements DurableRuns {
        @Override
        public void shutDown() {
            action.run();
        }

        @Override
        public Map<String, ?> reports() {
            return Map.of();
        }
    }

    @Test
    void a_run_that_is_executed_ends_with_the_tasks_that_it_submits_to_a_group_meanwhile() {
        List<GroupExecutor> mail = new ArrayList<>();
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        runner.withBean(
                        FlowRegistration.class,
                        () -> FlowRegistration.of(
                                f.returning(f.node("send", c -> {
                                    begun.countDown();
                                    closing.await();
                                    return mail.getFirst().call(c.param(), () -> "sent");
                                })),
                                "1",
                                FlowCodec.text()))
                .run(context -> {
                    mail.add(context.getBean(GroupExecutor.class));
                    context.getBean(FlowService.class).submit("order", "order-17", "acme");
                    begun.await();
                });

        assertThat(statusOf("order-17").state()).isEqualTo(RunState.SUCCESS);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void a_run_that_does_not_end_in_time_is_logged_with_its_name_and_continues_in_another_context() {
        runner.withPropertyValues("raddle.flows.close-timeout=0s")
                .withBean(FlowRegistration.class, () -> Flows.blocking(begun, never))
                .run(context -> {
                    context.getBean(FlowService.class).submit("blocking", "order-17", "a secret");
                    begun.await();
                });

        assertThat(warnings())
                .containsExactly("flow service \"raddleFlowService\" was shut down;"
                        + " left to other workers: [order-17 (blocking 1)]");
        assertThat(log.list.toString()).doesNotContain("secret");
        runner.withBean(FlowRegistration.class, () -> Flows.blocking(begun, closed()))
                .run(context -> {
                    StoredRun run = context.getBean(FlowService.class).await("order-17");
                    assertThat(run.state()).isEqualTo(RunState.SUCCESS);
                    assertThat(run.claims()).isEqualTo(2);
                });
    }

    private static CountDownLatch closed() {
        return new CountDownLatch(0);
    }

    @Test
    void a_service_of_the_application_is_shut_down_in_the_same_way() {
        runner.withPropertyValues("raddle.shutdown.timeout=0s")
                .withBean("own", FlowService.class, () -> {
                    FlowRegistration blocking = Flows.blocking(begun, never);
                    return FlowService.on(database.source())
                            .applySchema()
                            .register(blocking.plan(), "1", FlowCodec.text())
                            .start();
                })
                .run(context -> {
                    context.getBean(FlowService.class).submit("blocking", "order-17", "");
                    begun.await();
                });

        assertThat(warnings())
                .containsExactly(
                        "flow service \"own\" was shut down; left to other workers:" + " [order-17 (blocking 1)]");
    }

    @Test
    void a_shutdown_ends_although_the_database_does_not_answer() {
        BrokenSource source = new BrokenSource(database.source());
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, FlowAutoConfiguration.class))
                .withBean(DataSource.class, () -> source)
                .withBean(
                        ShutdownTimeout.class,
                        () -> new ShutdownTimeout(Duration.ZERO, TimeSource.system(), Duration.ofSeconds(1)))
                .withBean(FlowRegistration.class, () -> Flows.blocking(begun, never))
                .withPropertyValues("raddle.flows.apply-schema=true", "raddle.groups.mail.max-concurrency=1")
                .run(context -> {
                    context.getBean(FlowService.class).submit("blocking", "order-17", "a secret");
                    begun.await();
                    source.hang();
                });

        assertThat(warnings())
                .containsExactly("flow service \"raddleFlowService\" cannot return its runs, the database may be"
                        + " unavailable; other workers take them over when their heartbeats are missing:"
                        + " [order-17 (blocking 1)]");
        source.repair();
    }

    @Test
    void a_shutdown_ends_although_the_database_refuses_connections() {
        BrokenSource source = new BrokenSource(database.source());
        runner.withPropertyValues("raddle.flows.close-timeout=0s")
                .withBean("broken", DataSource.class, () -> source)
                .withPropertyValues("raddle.flows.data-source=broken")
                .withBean(FlowRegistration.class, () -> Flows.blocking(begun, never))
                .run(context -> {
                    context.getBean(FlowService.class).submit("blocking", "order-17", "");
                    begun.await();
                    source.throwExceptions();
                });

        assertThat(warnings())
                .containsExactly("flow service \"raddleFlowService\" was shut down;"
                        + " left to other workers: [order-17 (blocking 1)]");
    }

    @Test
    void a_context_with_a_virtual_time_leaves_its_runs_at_once() {
        runner.withConfiguration(AutoConfigurations.of(VirtualTimeAutoConfiguration.class))
                .withBean(FlowRegistration.class, () -> Flows.blocking(begun, never))
                .run(context -> {
                    context.getBean(FlowService.class).submit("blocking", "order-17", "");
                    begun.await();
                });

        assertThat(statusOf("order-17").state()).isIn(RunState.WAITING, RunState.WITHOUT_VERSION);
    }

    private StoredRun statusOf(String run) {
        try (FlowService service = FlowService.on(database.source()).start()) {
            return service.status(run).orElseThrow();
        }
    }

    private List<String> warnings() {
        return log.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
