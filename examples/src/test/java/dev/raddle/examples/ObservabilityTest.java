package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.micrometer.PoolMeters;
import dev.raddle.micrometer.TaskMeters;
import dev.raddle.opentelemetry.TaskTracing;
import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.FailurePolicy;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.slf4j.MdcPropagator;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.MDC;

/**
 * Tests the listeners, spans, meters, logs and flight recordings of each API: the table of {@code
 * docs/guide/observing.md}.
 */
class ObservabilityTest {

    /** The observers of an API. */
    private record Observers(TaskListener listener, List<ContextPropagator> propagators) {
        static final Observers NONE = new Observers(new TaskListener() {}, List.of());

        static Observers of(TaskListener listener) {
            return new Observers(listener, List.of());
        }
    }

    /** A task with a name, for APIs whose submissions have none. */
    private record Named(String name, Callable<String> body) implements NamedTask, Callable<String> {
        @Override
        public String call() throws Exception {
            return body.call();
        }
    }

    /** Runs the tasks "a" and "b" one after the other, both of the owner "owner". */
    private enum Api {
        GROUP("group") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                try (GroupExecutor executor = executor(observers)) {
                    executor.submit("owner", "a", a).await();
                    executor.submit("owner", "b", b).await();
                }
            }
        },
        PLACED_IN_GROUP("group") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                CountDownLatch settled = new CountDownLatch(2); // in the group, which settles them later than the scope
                TaskListener countDown = new TaskListener() {
                    @Override
                    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                        settled.countDown();
                    }
                };
                try (GroupExecutor executor =
                                executor(new Observers(observers.listener().and(countDown), observers.propagators()));
                        ThreadScope scope = ThreadScope.open("scope")
                                .withScheduler(executor.scheduler("owner"))
                                .withFailurePolicy(FailurePolicy.SUPERVISOR)) {
                    scope.await(scope.submit("a", a));
                    scope.await(scope.submit("b", b));
                }
                settled.await();
            }
        },
        THREAD_SCOPE("scope") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                try (ThreadScope scope = ThreadScope.open("owner").addListener(observers.listener())) {
                    observers.propagators().forEach(scope::addPropagator);
                    scope.submit("a", a).await();
                    scope.submit("b", b).await();
                }
            }
        },
        STRUCTURED_TASK_SCOPE("scope") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                StructuredScopeOptions options =
                        StructuredScopeOptions.defaults().withName("owner").addListener(observers.listener());
                for (ContextPropagator propagator : observers.propagators()) {
                    options = options.addPropagator(propagator);
                }
                try (StructuredTaskScope<String> scope = new StructuredTaskScope<>(options)) {
                    scope.fork(new Named("a", a));
                    scope.join();
                    scope.fork(new Named("b", b));
                    scope.join();
                }
            }
        },
        FLOW("flow") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                FlowBuilder<Void> f = FlowPlan.define("owner");
                Node<String> first = f.node("a", a::call);
                f.node("b", first, value -> b.call());
                RunOptions options = RunOptions.defaults().addListener(observers.listener());
                for (ContextPropagator propagator : observers.propagators()) {
                    options = options.addPropagator(propagator);
                }
                f.build().run(null, options);
            }
        },
        POOL("pool") {
            @Override
            void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                    throws Exception {
                PoolBuilder builder = ThreadPool.builder("owner").threads(1).addListener(observers.listener());
                observers.propagators().forEach(builder::addPropagator);
                ThreadPool pool = builder.build();
                new PoolMeters(pool).bindTo(registry);
                pool.submit(new Named("a", a)).get();
                pool.submit(new Named("b", b)).get();
                pool.shutdown();
                pool.awaitTermination(1, TimeUnit.HOURS);
                assertThat(registry.get("raddle.pool.completed")
                                .tag("pool", "owner")
                                .functionCounter()
                                .count())
                        .isEqualTo(2); // keeps the pool reachable
            }
        };

        /** The name of its meters, and of the field of its events that contains the owner. */
        final String word;

        Api(String word) {
            this.word = word;
        }

        abstract void run(Observers observers, MeterRegistry registry, Callable<String> a, Callable<String> b)
                throws Exception;

        TaskMeters meters(MeterRegistry registry) {
            return switch (word) {
                case "group" -> TaskMeters.forGroups(registry);
                case "flow" -> TaskMeters.forFlows(registry);
                case "pool" -> TaskMeters.forPools(registry);
                default -> TaskMeters.forScopes(registry);
            };
        }

        private static GroupExecutor executor(Observers observers) {
            GroupPolicy.Builder policy = GroupPolicy.builder().addListener(observers.listener());
            observers.propagators().forEach(policy::addPropagator);
            return GroupExecutor.newVirtualThreadExecutor(policy.build());
        }
    }

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @ParameterizedTest
    @EnumSource
    void a_listener_is_notified_of_each_submission_start_and_end(Api api) throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add(task.owner() + "/" + task.name() + " submitted");
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                events.add(task.owner() + "/" + task.name() + " started");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                events.add(task.owner() + "/" + task.name() + " ended");
            }
        };

        api.run(Observers.of(listener), registry, () -> "A", () -> "B");

        for (String name : List.of("owner/a", "owner/b")) { // a placed task may end after the task that placed it
            assertThat(events)
                    .filteredOn(line -> line.startsWith(name))
                    .containsExactly(name + " submitted", name + " started", name + " ended");
        }
    }

    @ParameterizedTest
    @EnumSource
    void each_task_has_a_span_below_that_of_the_submitter_and_it_is_current_in_the_task(Api api) throws Exception {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        SdkTracerProvider provider = SdkTracerProvider.builder()
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .build();
        try (OpenTelemetrySdk sdk =
                OpenTelemetrySdk.builder().setTracerProvider(provider).build()) {
            TaskTracing tracing = TaskTracing.of(sdk);
            Map<String, Span> current = new ConcurrentHashMap<>();
            Span request = sdk.getTracer("test").spanBuilder("request").startSpan();
            try (Scope inRequest = request.makeCurrent()) {
                api.run(
                        new Observers(tracing, List.of(tracing)),
                        registry,
                        () -> {
                            current.put("a", Span.current());
                            return "A";
                        },
                        () -> {
                            current.put("b", Span.current());
                            return "B";
                        });
            }
            request.end();

            List<SpanData> spans = exporter.getFinishedSpanItems();
            for (String name : List.of("a", "b")) {
                Span inside = current.get(name);
                assertThat(spans)
                        .filteredOn(span -> span.getName().equals(name))
                        .singleElement()
                        .satisfies(span -> {
                            assertThat(span.getTraceId())
                                    .isEqualTo(request.getSpanContext().getTraceId());
                            assertThat(span.getParentSpanId())
                                    .isEqualTo(request.getSpanContext().getSpanId());
                            assertThat(inside.getSpanContext().getSpanId()).isEqualTo(span.getSpanId());
                        });
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void meters_count_and_time_the_tasks(Api api) throws Exception {
        TaskMeters meters = api.meters(registry);

        api.run(Observers.of(meters), registry, () -> "A", () -> "B");

        String prefix = api == Api.POOL ? "raddle.pool.task" : "raddle." + api.word;
        assertThat(registry.get(prefix + ".run")
                        .tag(api.word, "owner")
                        .tag("outcome", "success")
                        .timer()
                        .count())
                .isEqualTo(2);
        assertThat(registry.get(prefix + ".wait").tag(api.word, "owner").timer().count())
                .isEqualTo(2);
        assertThat(registry.get(prefix + ".running")
                        .tag(api.word, "owner")
                        .gauge()
                        .value())
                .isZero();
    }

    @ParameterizedTest
    @EnumSource
    void the_mdc_of_the_submitter_is_in_the_task_and_entries_of_a_task_are_not_in_the_next(Api api) throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        Callable<String> task = () -> {
            seen.add(String.valueOf(MDC.get("request")));
            MDC.put("request", "of a task");
            return "value";
        };
        MDC.put("request", "7");
        try {
            api.run(new Observers(new TaskListener() {}, List.of(new MdcPropagator())), registry, task, task);
            assertThat(MDC.get("request")).isEqualTo("7");
        } finally {
            MDC.clear();
        }

        assertThat(seen).containsExactly("7", "7");
    }

    @ParameterizedTest
    @EnumSource
    void the_task_context_of_the_submitter_is_current_in_the_task_except_in_a_plain_pool(Api api) throws Exception {
        TaskContext.Key<String> key = TaskContext.Key.named("request");
        List<String> seen = new CopyOnWriteArrayList<>();
        Callable<String> task = () -> {
            seen.add(String.valueOf(TaskContext.current().get(key)));
            return "value";
        };

        TaskContext.current().with(key, "7").call(() -> {
            api.run(Observers.NONE, registry, task, task);
            return "done";
        });

        String expected = api == Api.POOL ? "null" : "7";
        assertThat(seen).containsExactly(expected, expected);
    }

    /** An event of the test, with the same clock as the others. */
    @Name("dev.raddle.test.Inside")
    static final class Inside extends Event {}

    @ParameterizedTest
    @EnumSource
    void a_flight_recording_contains_each_task_from_its_start_to_its_end(Api api, @TempDir Path directory)
            throws Exception {
        String type = api == Api.POOL ? "dev.raddle.PoolTask" : "dev.raddle.Task";
        List<RecordedEvent> all;
        try (Recording recording = new Recording()) {
            recording.enable(type);
            recording.enable(Inside.class);
            recording.start();
            api.run(
                    Observers.NONE,
                    registry,
                    () -> {
                        new Inside().commit();
                        return "A";
                    },
                    () -> "B");
            Path file = directory.resolve("tasks.jfr");
            recording.dump(file);
            all = RecordingFile.readAllEvents(file);
        }
        RecordedEvent inside = all.stream()
                .filter(event -> event.getEventType().getName().equals("dev.raddle.test.Inside"))
                .findFirst()
                .orElseThrow();
        List<RecordedEvent> tasks = all.stream()
                .filter(event -> event.getEventType().getName().equals(type))
                .filter(event -> "owner".equals(event.getString(api.word)))
                .toList();
        assertThat(tasks)
                .extracting(event -> event.getString(api == Api.POOL ? "task" : "name"))
                .containsExactlyInAnyOrder("a", "b");
        assertThat(tasks)
                .filteredOn(event ->
                        event.getString(api == Api.POOL ? "task" : "name").equals("a"))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getStartTime()).isBeforeOrEqualTo(inside.getStartTime());
                    assertThat(event.getEndTime()).isAfterOrEqualTo(inside.getEndTime());
                });
    }
}
