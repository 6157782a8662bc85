package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.Console;
import dev.raddle.flow.FlowCodec;
import dev.raddle.jdbc.DatabaseException;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunFilter;
import dev.raddle.jdbc.RunState;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class FlowServiceBeanTest {
    @RegisterExtension
    final LocalPostgres database = new LocalPostgres();

    private ApplicationContextRunner runner() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class, FlowAutoConfiguration.class))
                .withPropertyValues("raddle.flows.apply-schema=true", "raddle.flows.poll-interval=20ms");
    }

    private ApplicationContextRunner withSource() {
        return runner().withBean("main", DataSource.class, database::source);
    }

    // The bean.

    @Test
    void a_registered_flow_runs_in_the_service_that_is_configured_by_properties() {
        runner().withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues(
                        "spring.datasource.url=" + database.url(),
                        "spring.datasource.hikari.minimum-idle=0",
                        "raddle.flows.worker-name=worker-7",
                        "raddle.flows.max-runs=2",
                        "raddle.flows.heartbeat=200ms",
                        "raddle.flows.missed-heartbeats=5",
                        "raddle.flows.retention=1h",
                        "raddle.flows.close-timeout=1s")
                .run(context -> {
                    FlowService service = context.getBean(FlowService.class);
                    assertThat(service.submit("greeting", "run-1", " Ada ")).isTrue();
                    assertThat(service.await("run-1").worker()).isEqualTo("worker-7");
                    assertThat(service.value("run-1")).isEqualTo("Hello, Ada");
                });
    }

    @Test
    void the_console_shows_the_runs_of_the_service() {
        withSource()
                .withConfiguration(AutoConfigurations.of(ConsoleAutoConfiguration.class))
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues("raddle.console.enabled=true", "raddle.console.port=0")
                .run(context -> assertThat(ConsoleTest.firstState(
                                context.getBean(Console.class).uri(), "durable"))
                        .contains("\"services\":[\"raddleFlowService\"]"));
    }

    @Test
    void without_a_registration_or_a_data_source_or_if_it_is_disabled_there_is_no_service() {
        withSource().run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(FlowService.class));
        runner().withUserConfiguration(OneFlow.class)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(FlowService.class));
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues("raddle.flows.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(FlowService.class));
    }

    @Test
    void a_service_of_the_application_wins() {
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withBean(
                        "own",
                        FlowService.class,
                        () -> FlowService.on(database.source())
                                .applySchema()
                                .name("own")
                                .start())
                .run(context -> assertThat(
                                context.getBean(FlowService.class).stats().worker())
                        .isEqualTo("own"));
    }

    @Test
    void a_customizer_is_called_after_the_properties_and_the_registrations() {
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withBean(
                        FlowServiceCustomizer.class,
                        () -> builder -> builder.name("customized").register(Flows.greeting(), "2", FlowCodec.text()))
                .withPropertyValues("raddle.flows.worker-name=property")
                .run(context -> {
                    FlowService service = context.getBean(FlowService.class);
                    assertThat(service.stats().worker()).isEqualTo("customized");
                    service.submit("greeting", "run-1", "Ada");
                    assertThat(service.await("run-1").version()).isEqualTo("2");
                });
    }

    @Test
    void new_runs_have_the_version_that_is_last_in_the_order_of_the_beans() {
        withSource().withUserConfiguration(TwoVersions.class).run(context -> {
            FlowService service = context.getBean(FlowService.class);
            service.submit("greeting", "run-1", "Ada");
            assertThat(service.await("run-1").version()).isEqualTo("2");
        });
    }

    @Test
    void the_service_is_started_even_if_other_beans_are_created_only_when_they_are_needed() {
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertThat(context.getBeanFactory().containsSingleton("raddleFlowService"))
                        .isTrue());
    }

    @Test
    void a_service_that_only_submits_leaves_the_runs_to_others() {
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues("raddle.flows.submit-only=true")
                .run(context -> {
                    context.getBean(FlowService.class).submit("greeting", "run-1", "Ada");
                });
        withSource().withUserConfiguration(OneFlow.class).run(context -> {
            FlowService service = context.getBean(FlowService.class);
            assertThat(service.await("run-1").state()).isEqualTo(RunState.SUCCESS);
        });
    }

    @Test
    void a_run_that_is_submitted_in_a_transaction_exists_if_that_is_committed() {
        withSource().withUserConfiguration(OneFlow.class).run(context -> {
            FlowService service = context.getBean(FlowService.class);
            DataSource source = context.getBean(DataSource.class);
            TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(source));
            transaction.executeWithoutResult(status -> {
                submit(service, source, "run-1");
                status.setRollbackOnly();
            });
            assertThat(service.status("run-1")).isEmpty();
            transaction.executeWithoutResult(status -> submit(service, source, "run-1"));
            assertThat(service.await("run-1").state()).isEqualTo(RunState.SUCCESS);
        });
    }

    private static void submit(FlowService service, DataSource source, String run) {
        try {
            service.submit(DataSourceUtils.getConnection(source), "greeting", run, "Ada");
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void without_the_library_for_migrations_there_is_a_service_nevertheless() {
        new ApplicationContextRunner()
                .withUserConfiguration(ObservabilityTest.Automatic.class, OneFlow.class) // read from class files
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.sql", "dev.raddle.redis"))
                .withBean("main", DataSource.class, database::source)
                .withPropertyValues("raddle.flows.apply-schema=true")
                .run(context -> assertThat(context).hasSingleBean(FlowService.class));
    }

    // What prevents the start.

    @Test
    void several_data_sources_need_a_primary_one_or_a_property_that_names_one() {
        ApplicationContextRunner two = runner().withUserConfiguration(OneFlow.class, TwoSources.class)
                .withBean(LocalPostgres.class, () -> database);
        two.run(context -> assertThat(failure(context.getStartupFailure()))
                .isEqualTo("raddle.flows.data-source must name one of several data sources, was not set;"
                        + " there are [archive, main]"));
        two.withPropertyValues("raddle.flows.data-source=mian")
                .run(context -> assertThat(failure(context.getStartupFailure()))
                        .isEqualTo("raddle.flows.data-source must be the name of a data source, was \"mian\";"
                                + " there are [archive, main]"));
        two.withPropertyValues("raddle.flows.data-source=main")
                .run(context -> assertThat(context).hasNotFailed());
        runner().withUserConfiguration(OneFlow.class, PrimarySource.class)
                .withBean(LocalPostgres.class, () -> database)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void a_version_that_two_beans_register_is_reported_with_their_names() {
        withSource()
                .withBean("one", FlowRegistration.class, () -> Flows.greetingOf("1"))
                .withBean("other", FlowRegistration.class, () -> Flows.greetingOf("1"))
                .run(context -> assertThat(failure(context.getStartupFailure()))
                        .isEqualTo("version 1 of flow \"greeting\" is registered by the beans \"one\" and \"other\";"
                                + " each version of a flow needs one registration"));
    }

    @Test
    void a_registration_that_the_service_refuses_is_reported_with_the_name_of_its_bean() {
        withSource()
                .withBean("one", FlowRegistration.class, () -> Flows.greetingOf("1 beta"))
                .run(context -> assertThat(failure(context.getStartupFailure()))
                        .startsWith("the flow of bean \"one\" cannot be registered: a version must match"));
    }

    @Test
    void missing_tables_are_reported_with_the_property_that_creates_them() {
        withSource()
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues("raddle.flows.apply-schema=false")
                .run(context -> assertThat(failure(context.getStartupFailure()))
                        .startsWith("raddle.flows.apply-schema is false, and the flow service cannot start: the"
                                + " database has no tables for runs"));
    }

    @Test
    void migrations_of_the_application_create_the_tables_before_the_service_starts() {
        runner().withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class, DataSourceInitializationAutoConfiguration.class))
                .withUserConfiguration(OneFlow.class)
                .withPropertyValues(
                        "raddle.flows.apply-schema=false",
                        "spring.datasource.url=" + database.url(),
                        "spring.datasource.hikari.minimum-idle=0",
                        "spring.sql.init.mode=always",
                        "spring.sql.init.schema-locations=classpath:META-INF/raddle/jdbc/V1__runs_of_flows.sql,"
                                + "classpath:META-INF/raddle/jdbc/V2__waiting_runs.sql,"
                                + "classpath:META-INF/raddle/jdbc/V3__order_of_ends.sql,"
                                + "classpath:META-INF/raddle/jdbc/V4__lost_runs.sql,"
                                + "classpath:META-INF/raddle/jdbc/V5__lists_of_runs.sql,"
                                + "classpath:META-INF/raddle/jdbc/V6__context_of_runs.sql,"
                                + "classpath:META-INF/raddle/jdbc/V7__schedules.sql")
                .run(context -> assertThat(context.getBean(FlowService.class).count(RunFilter.all()))
                        .isEqualTo(Map.of()));
    }

    @Test
    void a_database_that_is_away_prevents_the_start() {
        BrokenSource source = new BrokenSource(database.source());
        source.throwExceptions();
        runner().withUserConfiguration(OneFlow.class)
                .withBean(DataSource.class, () -> source)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseMessage("the database is away")
                        .hasStackTraceContaining(DatabaseException.class.getName() + ": cannot start the service"));
    }

    private static String failure(Throwable failure) {
        assertThat(failure).isNotNull();
        return new RaddleFailureAnalyzer().analyze(failure).getDescription();
    }

    // Fixtures.

    @Configuration(proxyBeanMethods = false)
    static class OneFlow {
        @Bean
        FlowRegistration greeting() {
            return Flows.greetingOf("1");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoVersions {
        @Bean
        @Order(2)
        FlowRegistration second() {
            return Flows.greetingOf("2");
        }

        @Bean
        @Order(1)
        FlowRegistration first() {
            return Flows.greetingOf("1");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoSources {
        @Bean
        DataSource main(LocalPostgres database) {
            return database.source();
        }

        @Bean
        DataSource archive(LocalPostgres database) {
            return new BrokenSource(database.source());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimarySource {
        @Bean
        @Primary
        DataSource main(LocalPostgres database) {
            return database.source();
        }

        @Bean
        DataSource archive(LocalPostgres database) {
            return new BrokenSource(database.source());
        }
    }
}
