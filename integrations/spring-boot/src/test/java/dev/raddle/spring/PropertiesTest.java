package dev.raddle.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.CircuitBreaker.State;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupStats;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Rate;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;

class PropertiesTest {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class));

    @Test
    void a_group_executor_is_configured_by_its_properties() {
        runner.withPropertyValues(
                        "raddle.groups.tenants.max-concurrency=2",
                        "raddle.groups.tenants.max-concurrency-by-key.acme=8",
                        "raddle.groups.tenants.global-max-in-flight=64",
                        "raddle.groups.tenants.max-in-flight=3",
                        "raddle.groups.tenants.queue-threshold=100",
                        "raddle.groups.tenants.queue-threshold-by-key[a.b]=5",
                        "raddle.groups.tenants.global-queue-threshold=1000",
                        "raddle.groups.tenants.queue-timeout=2s",
                        "raddle.groups.tenants.rate=50/s",
                        "raddle.groups.tenants.rate-by-key.acme=5000/h burst 10",
                        "raddle.groups.tenants.global-rate=3/90s strict",
                        "raddle.groups.tenants.rejection-policy=discard",
                        "raddle.groups.tenants.idle-group-ttl=5s",
                        "raddle.groups.tenants.max-idle-groups=7",
                        "raddle.groups.tenants.reuse-threads=true",
                        "raddle.shutdown.timeout=9s")
                .run(context -> {
                    GroupPolicy policy =
                            context.getBean("tenants", GroupExecutor.class).policy();
                    assertThat(policy.resolveConcurrency("any")).isEqualTo(2);
                    assertThat(policy.resolveConcurrency("acme")).isEqualTo(8);
                    assertThat(policy.globalMaxInFlight()).isEqualTo(64);
                    assertThat(policy.resolveMaxInFlight("any")).isEqualTo(3);
                    assertThat(policy.resolveQueueThreshold("any")).isEqualTo(100);
                    assertThat(policy.resolveQueueThreshold("a.b")).isEqualTo(5);
                    assertThat(policy.globalQueueThreshold()).isEqualTo(1000);
                    assertThat(policy.queueTimeout()).isEqualTo(Duration.ofSeconds(2));
                    assertThat(policy.resolveRate("any")).isEqualTo(Rate.perSecond(50));
                    assertThat(policy.resolveRate("acme"))
                            .isEqualTo(Rate.of(5000, Duration.ofHours(1)).burst(10));
                    assertThat(policy.globalRate())
                            .isEqualTo(Rate.of(3, Duration.ofSeconds(90)).strict());
                    assertThat(policy.rejectionPolicy()).isEqualTo(RejectionPolicy.DISCARD);
                    assertThat(policy.idleGroupTtl()).isEqualTo(Duration.ofSeconds(5));
                    assertThat(policy.maxIdleGroups()).isEqualTo(7);
                    assertThat(policy.reuseThreads()).isTrue();
                    assertThat(policy.closeTimeout()).isEqualTo(Duration.ofSeconds(9));
                });
    }

    @Test
    void a_breaker_is_configured_by_its_properties() {
        VirtualTime time = new VirtualTime();
        runner.withBean(TimeSource.class, () -> time).withInitializer(yaml("""
                        raddle:
                          groups:
                            calls:
                              breaker:
                                failure-rate: 0.5
                                over: 4
                                at-least: 2
                                slower-than: 2s
                                slow-rate: 0.75
                                open-for: 10s
                                max-open: 15s
                                probes: 1
                                count-when: [java.io.IOException, java.sql.SQLException]
                        """)).run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            fail(executor, "a", IllegalStateException::new, 3); // does not count
            fail(executor, "a", IOException::new, 1);
            assertThat(breaker(executor, "a").state()).isEqualTo(State.CLOSED);
            fail(executor, "a", SQLException::new, 1);
            assertThat(breaker(executor, "a")).isEqualTo(open(4, 0.5, 0, Duration.ofSeconds(10)));
            time.advance(Duration.ofSeconds(10));
            fail(executor, "a", IOException::new, 1);
            assertThat(breaker(executor, "a").nextProbe()).isEqualTo(Duration.ofSeconds(15));
            time.advance(Duration.ofSeconds(15));
            executor.call("a", () -> "answer");
            assertThat(breaker(executor, "a").state()).isEqualTo(State.CLOSED);

            for (int seconds = 1; seconds <= 4; seconds++) {
                Duration length = Duration.ofSeconds(seconds);
                executor.call("slow", () -> {
                    time.advance(length);
                    return "answer";
                });
            }
            assertThat(breaker(executor, "slow").state()).isEqualTo(State.CLOSED); // 2 of 4
            executor.call("slow", () -> {
                time.advance(Duration.ofSeconds(3));
                return "answer";
            });
            assertThat(breaker(executor, "slow")).isEqualTo(open(4, 0, 0.75, Duration.ofSeconds(10)));
        });
    }

    @Test
    void a_breaker_may_consider_the_tasks_of_a_time_and_let_tasks_wait() {
        VirtualTime time = new VirtualTime();
        runner.withBean(TimeSource.class, () -> time)
                .withPropertyValues(
                        "raddle.groups.calls.breaker.failure-rate=1",
                        "raddle.groups.calls.breaker.over=60s",
                        "raddle.groups.calls.breaker.at-least=2",
                        "raddle.groups.calls.breaker.open-waits=true")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    fail(executor, "a", IOException::new, 1);
                    time.advance(Duration.ofSeconds(70));
                    fail(executor, "a", IOException::new, 1);
                    assertThat(breaker(executor, "a").ends()).isEqualTo(1);
                    fail(executor, "a", IllegalStateException::new, 1); // all exceptions count
                    assertThat(breaker(executor, "a")).isEqualTo(open(2, 1, 0, Duration.ofSeconds(30)));

                    TaskHandle<String> waiting = executor.submit("a", "t", () -> "answer");
                    assertThat(executor.groupStats("a").orElseThrow().queuedCount())
                            .isEqualTo(1);
                    executor.resetBreaker("a");
                    assertThat(waiting.await().orElseThrow()).isEqualTo("answer");
                });
    }

    private static ApplicationContextInitializer<ConfigurableApplicationContext> yaml(String text) {
        return context -> {
            try {
                new YamlPropertySourceLoader()
                        .load("yaml", new ByteArrayResource(text.getBytes(UTF_8)))
                        .forEach(context.getEnvironment().getPropertySources()::addLast);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        };
    }

    private static void fail(GroupExecutor executor, String key, Supplier<Exception> failure, int times) {
        for (int i = 0; i < times; i++) {
            Exception thrown = failure.get();
            assertThatThrownBy(() -> executor.call(key, () -> {
                        throw thrown;
                    }))
                    .isSameAs(thrown);
        }
    }

    private static GroupStats.Breaker breaker(GroupExecutor executor, String key) {
        return executor.groupStats(key).orElseThrow().breaker();
    }

    private static GroupStats.Breaker open(int ends, double failureRate, double slowRate, Duration nextProbe) {
        return new GroupStats.Breaker(State.OPEN, ends, failureRate, slowRate, nextProbe);
    }

    @Test
    void every_wrong_value_of_a_breaker_is_reported_with_the_name_of_its_property() {
        runner.withInitializer(yaml("""
                        raddle:
                          groups:
                            none:
                              breaker:
                                probes: 0
                                over: fast
                                slower-than: 0s
                            calls:
                              breaker:
                                failure-rate: 50
                                over: 1000001
                                at-least: 0
                                slower-than: 2s
                                slow-rate: 0
                                open-for: 0s
                                max-open: -1s
                                count-when: java.lang.String
                        """)).run(context -> {
            assertThat(context).hasFailed();
            String none = "raddle.groups.none.breaker.";
            String calls = "raddle.groups.calls.breaker.";
            assertThat(analysis(context.getStartupFailure()).getDescription().split("; "))
                    .containsExactlyInAnyOrder(
                            none + "failure-rate must be set",
                            none + "slower-than must be set together with slow-rate",
                            none + "over must be a number of tasks such as 100, or a time such as 60s,"
                                    + " was \"fast\": 'fast' is not a valid duration",
                            none + "probes must be at least 1, was 0",
                            none + "slower-than must be more than zero, was PT0S",
                            calls + "failure-rate must be more than 0 and at most 1, was 50.0",
                            calls + "slow-rate must be more than 0 and at most 1, was 0.0",
                            calls + "over must be a number of tasks such as 100, or a time such as 60s,"
                                    + " was \"1000001\": over must be at most 1000000, was 1000001",
                            calls + "at-least must be at least 1, was 0",
                            calls + "open-for must be more than zero, was PT0S",
                            calls + "max-open must be more than zero, was PT-1S",
                            calls + "count-when must have types of exceptions, had java.lang.String");
        });
    }

    @Test
    void a_pool_is_configured_by_its_properties() {
        runner.withPropertyValues(
                        "raddle.pools.reports.core-threads=2",
                        "raddle.pools.reports.max-threads=100",
                        "raddle.pools.reports.queue-capacity=50",
                        "raddle.pools.reports.keep-alive=3s",
                        "raddle.pools.reports.allow-core-timeout=true",
                        "raddle.pools.reports.rejection=caller-runs")
                .run(context -> {
                    ThreadPool pool = context.getBean("reports", ThreadPool.class);
                    assertThat(pool.name()).isEqualTo("reports");
                    assertThat(pool.getCorePoolSize()).isEqualTo(2);
                    assertThat(pool.getMaximumPoolSize()).isEqualTo(100);
                    assertThat(pool.getQueueCapacity()).isEqualTo(50);
                    assertThat(pool.getRejectedExecutionHandler()).isInstanceOf(ThreadPool.CallerRunsPolicy.class);
                });
    }

    @Test
    void a_group_runs_its_tasks_on_the_pool_that_it_names() {
        runner.withPropertyValues("raddle.groups.tenants.pool=workers", "raddle.pools.workers.threads=1")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    String thread = executor.submit(
                                    "a", "t", () -> Thread.currentThread().getName())
                            .await()
                            .orElseThrow();
                    assertThat(thread).startsWith("workers");
                });
    }

    @Test
    void every_wrong_value_is_reported_with_the_name_of_its_property() {
        runner.withPropertyValues(
                        "raddle.groups.tenants.max-concurrency=0",
                        "raddle.groups.tenants.rate-by-key.acme=fast",
                        "raddle.groups.tenants.global-rate=0/s",
                        "raddle.groups.tenants.queue-timeout=-1s",
                        "raddle.pools.reports.threads=4",
                        "raddle.pools.reports.max-threads=8",
                        "raddle.pools.reports.block-timeout=1s")
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(analysis(context.getStartupFailure()).getDescription())
                            .contains("raddle.groups.tenants.max-concurrency must be at least 1, was 0")
                            .contains("raddle.groups.tenants.rate-by-key[acme] must be a rate such as 100/s"
                                    + " or 5000/h burst 50, was \"fast\"")
                            .contains("raddle.groups.tenants.global-rate must be a rate")
                            .contains("the count of a rate must be at least 1, was 0")
                            .contains("raddle.groups.tenants.queue-timeout must not be negative, was PT-1S")
                            .contains("raddle.pools.reports.threads must not be set together with core-threads")
                            .contains("raddle.pools.reports.block-timeout needs the rejection block, was abort");
                });
    }

    @Test
    void every_wrong_value_of_the_flow_service_is_reported_also_if_there_is_none() {
        runner.withPropertyValues(
                        "raddle.flows.worker-name=" + "w".repeat(51),
                        "raddle.flows.max-runs=0",
                        "raddle.flows.heartbeat=99ms",
                        "raddle.flows.missed-heartbeats=3",
                        "raddle.flows.poll-interval=1ms",
                        "raddle.flows.retention=-1d",
                        "raddle.flows.close-timeout=31s")
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(analysis(context.getStartupFailure()).getDescription())
                            .isEqualTo("raddle.flows.worker-name must have 1 to 50 characters, had 51;"
                                    + " raddle.flows.max-runs must be at least 1, was 0;"
                                    + " raddle.flows.heartbeat must be at least 100 ms, was 99 ms;"
                                    + " raddle.flows.missed-heartbeats must be at least 4, was 3;"
                                    + " raddle.flows.poll-interval must be at least 10 ms, was 1 ms;"
                                    + " raddle.flows.retention must not be negative, was PT-24H;"
                                    + " raddle.flows.close-timeout must be at most raddle.shutdown.timeout,"
                                    + " was PT31S of PT30S");
                });
    }

    @Test
    void a_misspelled_property_prevents_the_start() {
        runner.withPropertyValues("raddle.groups.tenants.max-concurency=2").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure()).rootCause().hasMessageContaining("max-concurency");
        });
    }

    @Test
    void a_misspelled_property_is_reported_before_any_bean_is_created() {
        AtomicBoolean isCreated = new AtomicBoolean();
        new ApplicationContextRunner()
                .withBean(Object.class, () -> isCreated.getAndSet(true))
                .withConfiguration(AutoConfigurations.of(RaddleAutoConfiguration.class))
                .withPropertyValues("raddle.groups.tenants.max-concurency=2")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("raddle.groups.tenants.max-concurency"));
        assertThat(isCreated).isFalse();
    }

    @Test
    void a_pool_that_does_not_exist_is_reported_with_the_name_of_the_property() {
        runner.withPropertyValues("raddle.groups.tenants.pool=workers").run(context -> {
            assertThat(context).hasFailed();
            assertThat(analysis(context.getStartupFailure()).getDescription())
                    .isEqualTo("raddle.groups.tenants.pool must be the name of a pool, was \"workers\"");
        });
    }

    @Test
    void an_executor_of_the_application_wins_over_the_properties_of_the_same_name() {
        runner.withUserConfiguration(OwnExecutor.class)
                .withPropertyValues("raddle.groups.tenants.max-concurrency=2", "raddle.groups.mail.max-concurrency=3")
                .run(context -> {
                    assertThat(context.getBeansOfType(GroupExecutor.class)).containsOnlyKeys("tenants", "mail");
                    assertThat(context.getBean("tenants", GroupExecutor.class)
                                    .policy()
                                    .defaultMaxConcurrencyPerGroup())
                            .isEqualTo(17);
                });
    }

    @Test
    void a_name_that_another_bean_has_prevents_the_start() {
        runner.withUserConfiguration(OwnExecutor.class)
                .withPropertyValues("raddle.groups.repository.max-concurrency=2")
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(analysis(context.getStartupFailure()).getDescription())
                            .isEqualTo("raddle.groups.repository must have another name: there is a bean"
                                    + " \"repository\" of type class java.lang.String");
                });
    }

    @Test
    void customizers_are_called_with_the_name_after_the_properties() {
        runner.withUserConfiguration(Customizers.class)
                .withPropertyValues("raddle.groups.tenants.max-concurrency=2", "raddle.pools.reports.threads=2")
                .run(context -> {
                    assertThat(context.getBean(GroupExecutor.class).policy().resolveConcurrency("tenants"))
                            .isEqualTo(5);
                    assertThat(context.getBean(ThreadPool.class).getMaximumPoolSize())
                            .isEqualTo(7);
                });
    }

    private static FailureAnalysis analysis(Throwable failure) {
        FailureAnalysis analysis = new RaddleFailureAnalyzer().analyze(failure);
        assertThat(analysis).as("the analysis of %s", failure).isNotNull();
        return analysis;
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnExecutor {

        @Bean
        GroupExecutor tenants() {
            return GroupExecutor.newVirtualThreadExecutor(
                    GroupPolicy.builder().defaultMaxConcurrencyPerGroup(17).build());
        }

        @Bean
        String repository() {
            return "something else";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Customizers {

        @Bean
        GroupPolicyCustomizer five() {
            return (name, policy) -> policy.concurrencyResolver(key -> key.equals(name) ? 5 : 1);
        }

        @Bean
        ThreadPoolCustomizer seven() {
            return (name, pool) -> pool.maxThreads(7);
        }
    }
}
