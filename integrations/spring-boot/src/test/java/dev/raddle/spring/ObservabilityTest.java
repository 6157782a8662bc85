package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupStats;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.structured.StructuredTaskScope;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import io.micrometer.context.ContextRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.MDC;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.actuate.web.WebMvcEndpointManagementContextConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

class ObservabilityTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch hold = new CountDownLatch(1);
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RaddleAutoConfiguration.class,
                    GroupedAutoConfiguration.class,
                    ContextAutoConfiguration.class,
                    MetersAutoConfiguration.class,
                    HealthAutoConfiguration.class,
                    EndpointAutoConfiguration.class,
                    FleetAutoConfiguration.class))
            .withPropertyValues(
                    "raddle.groups.tenants.max-concurrency=1",
                    "raddle.pools.reports.threads=1",
                    "management.endpoints.web.exposure.include=raddle");

    // Meters.

    @Test
    void executors_and_pools_have_meters_until_the_context_is_closed() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        runner.withBean(MeterRegistry.class, () -> registry).run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            executor.submit("acme", "t", () -> "done").await();
            assertThat(registry.get("raddle.group.run")
                            .tags("executor", "tenants", "group", "acme", "outcome", "success")
                            .timer()
                            .count())
                    .isEqualTo(1);
            assertThat(registry.get("raddle.group.limit")
                            .tag("group", "acme")
                            .gauge()
                            .value())
                    .isEqualTo(1);
            assertThat(registry.get("raddle.pool.threads.max")
                            .tag("pool", "reports")
                            .gauge()
                            .value())
                    .isEqualTo(1);
        });
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void the_breaker_of_a_configured_key_has_its_meters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        runner.withBean(MeterRegistry.class, () -> registry)
                .withPropertyValues("raddle.groups.tenants.breaker.failure-rate=0.5")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    executor.submit("acme", "t", () -> "done").await();
                    executor.openBreaker("acme", Duration.ofMinutes(1));
                    assertThat(registry.get("raddle.group.breaker")
                                    .tags("executor", "tenants", "group", "acme")
                                    .gauge()
                                    .value())
                            .isEqualTo(2);
                    assertThat(registry.get("raddle.group.breaker.changes")
                                    .tags("executor", "tenants", "group", "acme", "state", "open")
                                    .counter()
                                    .count())
                            .isEqualTo(1);
                });
    }

    // Spans.

    @Test
    void each_task_of_an_executor_and_a_pool_has_a_span_that_is_current_in_it() {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .build();
        runner.withConfiguration(AutoConfigurations.of(TracingAutoConfiguration.class))
                .withBean(OpenTelemetry.class, () -> openTelemetry)
                .run(context -> {
                    Span request = openTelemetry
                            .getTracer("test")
                            .spanBuilder("request")
                            .startSpan();
                    Callable<String> current =
                            () -> Span.current().getSpanContext().getSpanId();
                    try (Scope _ = request.makeCurrent()) {
                        String inGroup = context.getBean(GroupExecutor.class).call("acme", current);
                        String inPool = context.getBean(ThreadPool.class)
                                .submit(current)
                                .get();
                        context.getBean(ThreadPool.class).close(); // then all spans have ended
                        assertThat(exporter.getFinishedSpanItems())
                                .allSatisfy(span -> assertThat(span.getParentSpanId())
                                        .isEqualTo(request.getSpanContext().getSpanId()))
                                .extracting(SpanData::getSpanId)
                                .containsExactlyInAnyOrder(inGroup, inPool);
                    }
                });
        runner.withConfiguration(AutoConfigurations.of(TracingAutoConfiguration.class))
                .run(context -> assertThat(context).doesNotHaveBean("raddleTaskTracing"));
    }

    @Test
    void a_listener_of_the_application_is_notified_beside_the_meters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        List<String> started = new CopyOnWriteArrayList<>();
        TaskListener own = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                started.add(task.owner() + "/" + task.name());
            }
        };
        runner.withBean(MeterRegistry.class, () -> registry)
                .withBean("own", TaskListener.class, () -> own)
                .run(context -> {
                    context.getBean(GroupExecutor.class)
                            .submit("acme", "t", () -> "")
                            .await();
                    assertThat(started).containsExactly("acme/t");
                    assertThat(registry.find("raddle.group.run").timer()).isNotNull();
                });
    }

    // Contexts.

    @Test
    void tasks_have_the_mdc_and_the_observation_of_their_submitter() {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(context -> true);
        runner.run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            Observation request = Observation.start("request", observations);
            try (Observation.Scope _ = request.openScope();
                    MDC.MDCCloseable _ = MDC.putCloseable("request", "r-17")) {
                String inTask = executor.submit(
                                "acme",
                                "t",
                                () -> MDC.get("request") + " " + (observations.getCurrentObservation() == request))
                        .await()
                        .orElseThrow();
                assertThat(inTask).isEqualTo("r-17 true");
            }
        });
        assertThat(ContextRegistry.getInstance().getThreadLocalAccessors()).isNotEmpty();
    }

    @Test
    void flows_and_scopes_have_the_mdc_and_the_observation_without_options() throws Exception {
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(context -> true);
        Observation request = Observation.start("request", observations);
        Callable<String> context = () -> MDC.get("request") + " " + (observations.getCurrentObservation() == request);
        FlowBuilder<String> flow = FlowPlan.define("page", String.class);
        Node<String> node = flow.node("context", context::call);
        FlowPlan<String, String> plan = flow.returning(node);
        try (Observation.Scope _ = request.openScope();
                MDC.MDCCloseable _ = MDC.putCloseable("request", "r-17")) {
            assertThat(plan.run("").value()).isEqualTo("r-17 true");
            try (ThreadScope scope = ThreadScope.open("page")) {
                assertThat(scope.submit("context", context).await()).isEqualTo("r-17 true");
            }
            try (var scope = StructuredTaskScope.<String>open()) {
                var subtask = scope.fork(context);
                scope.join();
                assertThat(subtask.get()).isEqualTo("r-17 true");
            }
        }
    }

    @Test
    void each_call_of_a_grouped_method_is_observed_until_its_future_completes() {
        List<String> observed = new CopyOnWriteArrayList<>();
        Semaphore stops = new Semaphore(0);
        ObservationRegistry observations = ObservationRegistry.create();
        observations.observationConfig().observationHandler(new Recording(observed, stops));
        runner.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class))
                .withBean(ObservationRegistry.class, () -> observations)
                .withBean(Shop.class)
                .run(context -> {
                    Shop shop = context.getBean(Shop.class);
                    shop.place();
                    assertThat(observed).containsExactly("Shop.place", "event started", "stop, error null");
                    observed.clear();
                    CompletableFuture<String> work = new CompletableFuture<>();
                    CompletableFuture<String> later = shop.later(work);
                    assertThat(observed).doesNotContain("stop, error null");
                    work.completeExceptionally(new IllegalStateException("sold out"));
                    assertThat(later).failsWithin(Duration.ofSeconds(30));
                    stops.acquire(2);
                    assertThat(observed)
                            .containsExactly(
                                    "Shop.later",
                                    "event started",
                                    "stop, error java.lang.IllegalStateException: sold out");
                });
    }

    static class Shop {
        @Grouped
        public String place() {
            return "placed";
        }

        @Grouped
        public CompletableFuture<String> later(CompletableFuture<String> work) {
            return work;
        }
    }

    private record Recording(List<String> observed, Semaphore stops)
            implements ObservationHandler<Observation.Context> {
        @Override
        public void onStart(Observation.Context context) {
            observed.add(context.getContextualName());
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            observed.add("event " + event.getName());
        }

        @Override
        public void onStop(Observation.Context context) {
            observed.add("stop, error " + context.getError());
            stops.release();
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context.getName().equals("raddle.grouped");
        }
    }

    @Test
    void without_the_optional_libraries_there_are_executors_only() {
        new ApplicationContextRunner()
                .withUserConfiguration(Automatic.class) // read from class files, as in an application
                .withClassLoader(new FilteredClassLoader(
                        "dev.raddle.jdbc",
                        "dev.raddle.micrometer",
                        "dev.raddle.slf4j",
                        "dev.raddle.redis",
                        "io.micrometer",
                        "org.springframework.boot.actuate",
                        "org.springframework.boot.health",
                        "org.springframework.boot.data",
                        "org.springframework.web"))
                .withBean(FlowRegistration.class, () -> null)
                .withPropertyValues("raddle.groups.tenants.max-concurrency=1", "raddle.flows.max-runs=4")
                .run(context -> {
                    assertThat(context).hasNotFailed().hasBean("tenants").doesNotHaveBean(ContextPropagator.class);
                    assertThat(context.getBean(GroupExecutor.class)
                                    .submit("a", "t", () -> "done")
                                    .await()
                                    .orElseThrow())
                            .isEqualTo("done");
                });
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OfRaddle.class)
    static class Automatic {}

    static class OfRaddle implements DeferredImportSelector {
        @Override
        public String[] selectImports(AnnotationMetadata metadata) {
            return ImportCandidates.load(AutoConfiguration.class, getClass().getClassLoader()).getCandidates().stream()
                    .filter(name -> name.startsWith("dev.raddle."))
                    .toArray(String[]::new);
        }
    }

    // Health.

    @Test
    void a_saturated_application_is_up() {
        runner.withPropertyValues("raddle.groups.tenants.queue-threshold=1").run(context -> {
            saturate(context.getBean(GroupExecutor.class));
            Health health = context.getBean(RaddleHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("tenants").toString())
                    .isEqualTo("{running=1, waiting=1, shutDown=false}");
            assertThat(health.getDetails().get("reports").toString())
                    .isEqualTo("{running=0, waiting=0, shutDown=false}");
            hold.countDown();
        });
    }

    @Test
    void open_breakers_are_shown_and_are_a_reason_for_down_only_if_the_application_wants_that() {
        VirtualTime time = new VirtualTime();
        ApplicationContextRunner breaking = runner.withBean(TimeSource.class, () -> time)
                .withPropertyValues("raddle.groups.tenants.breaker.failure-rate=0.5");
        breaking.run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            executor.call("globex", () -> "");
            executor.openBreaker("acme", Duration.ofSeconds(10));
            Health health = context.getBean(RaddleHealthIndicator.class).health();
            assertThat(health.getStatus()).isEqualTo(Status.UP);
            assertThat(health.getDetails().get("tenants").toString())
                    .isEqualTo("{running=0, waiting=0, shutDown=false, openBreakers=1, openKeys={acme=open}}");
        });
        breaking.withPropertyValues("raddle.health.down-on-open-breaker=true").run(context -> {
            RaddleHealthIndicator indicator = context.getBean(RaddleHealthIndicator.class);
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
            context.getBean(GroupExecutor.class).openBreaker("acme", Duration.ofSeconds(10));
            assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
            time.advance(Duration.ofSeconds(10)); // a task may come, but it need not
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
        });
    }

    @Test
    void the_health_names_a_bounded_number_of_open_keys() {
        runner.withPropertyValues("raddle.groups.tenants.breaker.failure-rate=0.5")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    for (int key = 0; key < 100; key++) {
                        executor.openBreaker(key + "k".repeat(100_000), Duration.ofHours(1));
                    }
                    Health health = context.getBean(RaddleHealthIndicator.class).health();
                    assertThat(health.getDetails().get("tenants").toString())
                            .contains("openBreakers=100")
                            .hasSizeLessThan(10_000);
                });
    }

    @Test
    void the_health_can_be_disabled_as_that_of_others_can() {
        runner.withPropertyValues("management.health.raddle.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(RaddleHealthIndicator.class));
    }

    // The endpoint.

    @Test
    void the_endpoint_shows_executors_groups_and_why_the_tasks_of_a_key_wait() {
        runner.run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            saturate(executor);
            executor.submit("idle", "t", () -> "").await();
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);

            assertThat(endpoint.overview().executors()).containsOnlyKeys("tenants");
            assertThat(endpoint.overview().pools()).containsOnlyKeys("reports");
            RaddleEndpoint.ExecutorReport report = endpoint.executor("tenants", 1);
            assertThat(report.stats().totalQueuedCount()).isEqualTo(1);
            assertThat(report.groups())
                    .singleElement()
                    .satisfies(group -> assertThat(group.groupKey()).isEqualTo("acme/eu"));
            assertThat(endpoint.key("tenants", null, "acme", "eu").explanation())
                    .isEqualTo("1 task waits; the next waits for a slot of its group, 0 before it; 1 of 1 slots are"
                            + " taken");
            assertThat(endpoint.key("tenants", null, "idle").explanation())
                    .isEqualTo("no task waits; 0 of 1 slots are taken");
            assertThat(endpoint.key("tenants", null, "unknown")).isNull();
            assertThat(endpoint.executor("unknown", null)).isNull();
            hold.countDown();
        });
    }

    @Test
    void the_endpoint_explains_holds_rates_and_the_limit_of_all_groups() {
        runner.withPropertyValues(
                        "raddle.groups.tenants.global-max-in-flight=1", "raddle.groups.tenants.rate-by-key.slow=1/h")
                .run(context -> {
                    GroupExecutor executor = context.getBean(GroupExecutor.class);
                    RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
                    executor.submit("slow", "first", () -> "").await();
                    executor.submit("slow", "second", () -> "");
                    assertThat(endpoint.key("tenants", null, "slow").explanation())
                            .startsWith("1 task waits; the next waits for the rate of 1 per hour, next start in ");

                    executor.holdGroup("held", Duration.ofHours(1));
                    executor.submit("held", "t", () -> "");
                    assertThat(endpoint.key("tenants", null, "held").explanation())
                            .startsWith("1 task waits; the next waits for the end of a hold of its group, next start");

                    executor.submit("acme", "holder", this::holdSlot);
                    begun.await();
                    executor.submit("globex", "t", () -> "");
                    assertThat(endpoint.key("tenants", null, "globex").explanation())
                            .startsWith("1 task waits; the next waits for a slot of the global cap, 0 groups before");
                    hold.countDown();
                    executor.shutdown(); // what waits for rates and holds would keep the context open
                });
    }

    @Test
    void the_endpoint_explains_why_a_task_waits_that_is_named_in_the_request() {
        runner.run(context -> {
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
            saturate(executor);
            executor.submit("acme/eu", "import", () -> "");

            assertThat(endpoint.key("tenants", "import", "acme", "eu").explanation())
                    .isEqualTo("the first task of this name waits for a slot of its group, 1 before it");
            assertThat(endpoint.key("tenants", "runs", "acme", "eu").explanation())
                    .isEqualTo("no task of this name waits here: it runs, has ended, or has another key");
            executor.pauseGroup("acme/eu");
            assertThat(endpoint.key("tenants", null, "acme", "eu").explanation())
                    .isEqualTo("2 tasks wait; the next waits for the resumption of its group, 0 before it; 1 of 1"
                            + " slots are taken");
            executor.resumeGroup("acme/eu");
            hold.countDown();
        });
    }

    @Test
    void an_answer_of_the_endpoint_is_short_however_long_the_keys_are_and_however_many() {
        runner.withPropertyValues("raddle.shutdown.timeout=0s")
                .run(
                        context -> { // the hold would keep it open
                            GroupExecutor executor = context.getBean(GroupExecutor.class);
                            for (int key = 0; key < 1_001; key++) {
                                executor.submit("k" + key, "t", () -> "").await();
                            }
                            String longKey = "k".repeat(100_000);
                            executor.submit(longKey, "t", () -> "").await();
                            executor.holdGroup(longKey, Duration.ofHours(1));
                            executor.submit(longKey, "secret".repeat(1_000), () -> "");
                            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);

                            assertThat(endpoint.executor("tenants", Integer.MAX_VALUE)
                                            .groups())
                                    .hasSize(1_000);
                            assertThat(endpoint.executor("tenants", 0).groups()).isEmpty();
                            assertThat(endpoint.executor("tenants", 1)
                                            .groups()
                                            .getFirst()
                                            .groupKey())
                                    .isEqualTo("k".repeat(200) + "… and 99800 more characters");
                            assertThat(endpoint.key("tenants", null, longKey).toString())
                                    .hasSizeLessThan(1_000)
                                    .doesNotContain("secret");
                        });
    }

    @Test
    void a_write_changes_the_limits_of_a_group() {
        runner.run(context -> {
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
            RaddleEndpoint.KeyReport report = (RaddleEndpoint.KeyReport)
                    endpoint.change("tenants", 5, 2, "10/s", null, null, null, null, null, "acme");
            assertThat(report.stats().maxConcurrency()).isEqualTo(5);
            assertThat(report.stats().rate()).hasToString("10 per second");
            endpoint.change("tenants", null, null, null, true, null, null, null, null, "acme");
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            executor.submit("acme", "t", () -> "");
            assertThat(executor.groupStats("acme").orElseThrow().queuedCount()).isEqualTo(1);
            endpoint.change("tenants", null, null, "", false, null, null, null, null, "acme");
            assertThat(executor.awaitIdle(Duration.ofSeconds(30))).isTrue();
            endpoint.change("tenants", 3, null, null, null, null, null, null, null, "acme", "eu");
            assertThat(executor.groupStats("acme/eu").orElseThrow().maxConcurrency())
                    .isEqualTo(3);
        });
    }

    @Test
    void a_write_opens_and_resets_the_breaker_of_a_group() {
        runner.withBean(TimeSource.class, VirtualTime::new)
                .withPropertyValues("raddle.groups.tenants.breaker.failure-rate=0.5")
                .run(context -> {
                    RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
                    endpoint.change("tenants", null, null, null, null, null, MINUTE, null, null, "acme", "eu");
                    RaddleEndpoint.KeyReport open = endpoint.key("tenants", null, "acme", "eu");
                    assertThat(open.stats().breaker())
                            .isEqualTo(new GroupStats.Breaker(CircuitBreaker.State.OPEN, 0, 0, 0, MINUTE));
                    assertThat(open.explanation())
                            .isEqualTo("no task waits; 0 of 1 slots are taken; the breaker is open");
                    RaddleEndpoint.KeyReport closed = (RaddleEndpoint.KeyReport)
                            endpoint.change("tenants", null, null, null, null, null, null, true, null, "acme", "eu");
                    assertThat(closed.stats().breaker().state()).isEqualTo(CircuitBreaker.State.CLOSED);
                    assertThat(closed.explanation()).isEqualTo("no task waits; 0 of 1 slots are taken");
                });
    }

    @Test
    void a_write_to_a_breaker_that_makes_no_sense_is_refused_and_changes_nothing() {
        runner.run(context -> {
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
            GroupExecutor executor = context.getBean(GroupExecutor.class);
            assertRefused(
                    () -> endpoint.change("tenants", 5, null, null, null, null, MINUTE, null, null, "acme"),
                    "group \"acme\" has no breaker");
            assertThat(executor.groupStats("acme")).isEmpty();
            executor.call("acme", () -> "");
            assertRefused(
                    () -> endpoint.change("tenants", 5, null, null, null, null, null, true, null, "acme"),
                    "the key is unknown, or has no breaker");
            assertRefused(
                    () -> endpoint.change("tenants", 5, null, null, null, null, null, false, null, "acme"),
                    "resetBreaker must be true, was false");
            assertThat(executor.groupStats("acme").orElseThrow().maxConcurrency())
                    .isEqualTo(1);
        });
        runner.withPropertyValues("raddle.groups.tenants.breaker.failure-rate=0.5")
                .run(context -> assertRefused(
                        () -> context.getBean(RaddleEndpoint.class)
                                .change("tenants", 5, null, null, null, null, Duration.ZERO, null, null, "acme"),
                        "the time for the breaker of group \"acme\" must be positive, was PT0S"));
    }

    @Test
    void a_write_with_a_wrong_value_is_refused_with_the_rule_and_changes_nothing() {
        runner.run(context -> {
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
            assertRefused(() -> endpoint.executor("tenants", -1), "count must not be negative, was -1");
            assertRefused(
                    () -> endpoint.change("tenants", 0, null, null, null, null, null, null, null, "acme"),
                    "maxConcurrency must be at least 1, was 0");
            assertRefused(
                    () -> endpoint.change("tenants", 5, 0, null, null, null, null, null, null, "acme"),
                    "weight must be at least 1, was 0");
            assertRefused(
                    () -> endpoint.change("tenants", 5, null, "fast", null, null, null, null, null, "acme"),
                    "rate must be a rate such as 100/s or 5000/h burst 50, was \"fast\"");
            assertRefused(
                    () -> endpoint.change(
                            "tenants", 5, null, null, null, Duration.ofSeconds(-1), null, null, null, "acme"),
                    "hold must not be negative, was PT-1S");
            assertThat(context.getBean(GroupExecutor.class).groupStats("acme")).isEmpty();
        });
    }

    @Test
    void a_write_to_an_unknown_executor_is_404_and_one_with_an_unknown_field_400() throws Exception {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RaddleAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration.class,
                        WebEndpointAutoConfiguration.class,
                        DispatcherServletAutoConfiguration.class,
                        WebMvcAutoConfiguration.class,
                        WebMvcEndpointManagementContextConfiguration.class))
                .withPropertyValues(
                        "raddle.groups.tenants.max-concurrency=1",
                        "raddle.groups.tenants.breaker.failure-rate=0.5",
                        "management.endpoint.raddle.access=UNRESTRICTED",
                        "management.endpoints.web.exposure.include=raddle")
                .run(context -> {
                    MockMvc mvc = MockMvcBuilders.webAppContextSetup(context).build();
                    assertThat(statusOf(mvc, "unknown", "{\"maxConcurrency\": 8}"))
                            .isEqualTo(404);
                    assertThat(statusOf(mvc, "tenants", "{\"maxConcurency\": 8}"))
                            .isEqualTo(400);
                    assertThat(statusOf(mvc, "tenants", "{\"user\": \"root\"}")).isEqualTo(400);
                    assertThat(statusOf(mvc, "tenants", "{\"openBreaker\": \"0s\"}"))
                            .isEqualTo(400);
                    assertThat(context.getBean(GroupExecutor.class).groupStats("acme"))
                            .isEmpty();
                    assertThat(statusOf(mvc, "tenants", "{\"maxConcurrency\": 8}"))
                            .isEqualTo(200);
                    assertThat(statusOf(mvc, "tenants", "{\"openBreaker\": \"5m\"}"))
                            .isEqualTo(200);
                    assertThat(statusOf(mvc, "tenants", "{\"resetBreaker\": true}"))
                            .isEqualTo(200);
                    assertThat(mvc.perform(get("/actuator/raddle/tenants?count=-1"))
                                    .andReturn()
                                    .getResponse()
                                    .getStatus())
                            .isEqualTo(400);
                    assertThat(mvc.perform(get("/actuator/raddle/unknown"))
                                    .andReturn()
                                    .getResponse()
                                    .getStatus())
                            .isEqualTo(404);
                });
    }

    private static int statusOf(MockMvc mvc, String executor, String change) throws Exception {
        return mvc.perform(post("/actuator/raddle/" + executor + "/acme")
                        .contentType(MediaType.APPLICATION_JSON)
                        .content(change))
                .andReturn()
                .getResponse()
                .getStatus();
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void each_change_is_logged_with_its_user_and_a_paused_group_says_so(CapturedOutput output) {
        runner.run(context -> {
            RaddleEndpoint endpoint = context.getBean(RaddleEndpoint.class);
            RaddleEndpoint.KeyReport report = (RaddleEndpoint.KeyReport)
                    endpoint.change("tenants", 5, null, "10/s", true, null, null, null, () -> "ada", "ac\nme");
            assertThat(output)
                    .contains("executor \"tenants\", key \"ac?me\": [maxConcurrency=5, rate=10/s, paused=true] by ada");
            assertThat(report.stats().paused()).isTrue();
            assertThat(report.explanation()).isEqualTo("no task waits; 0 of 5 slots are taken; the group is paused");
        });
    }

    private static void assertRefused(ThrowingCallable write, String rule) {
        assertThatExceptionOfType(InvalidEndpointRequestException.class)
                .isThrownBy(write)
                .satisfies(refused -> assertThat(refused.getReason()).isEqualTo(rule));
    }

    // Fixtures.

    private void saturate(GroupExecutor executor) throws InterruptedException {
        executor.submit("acme/eu", "runs", this::holdSlot);
        begun.await();
        executor.submit("acme/eu", "waits", () -> "");
    }

    private String holdSlot() throws InterruptedException {
        begun.countDown();
        hold.await();
        return "";
    }
}
