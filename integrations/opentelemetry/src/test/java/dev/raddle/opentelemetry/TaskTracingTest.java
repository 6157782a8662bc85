package dev.raddle.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TaskTracingTest {

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();
    private final OpenTelemetrySdk sdk =
            OpenTelemetrySdk.builder().setTracerProvider(provider).build();
    private final Tracer tracer = sdk.getTracer("test");
    private final TaskTracing tracing = TaskTracing.of(sdk);
    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<Throwable> suppressed = new ArrayList<>();

    @AfterEach
    void assertNothingRemains() {
        assertThat(tracing.openSpans()).isZero();
        assertThat(Context.current()).isSameAs(Context.root());
        sdk.close();
    }

    private GroupPolicy.Builder traced() {
        return untraced().addListener(tracing).addPropagator(tracing);
    }

    private GroupPolicy.Builder untraced() {
        return GroupPolicy.builder()
                .exceptionSink(ExceptionSink.to((source, error) -> suppressed.add(error)))
                .timeSource(time)
                .closeTimeout(Duration.ZERO)
                .rejectionPolicy(RejectionPolicy.DISCARD);
    }

    private GroupPolicy.Builder stepped() {
        return traced().scheduler(key -> steps).defaultMaxConcurrencyPerGroup(1);
    }

    private SpanData span(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .reduce((one, other) -> {
                    throw new AssertionError("two spans \"" + name + "\": " + one + ", " + other);
                })
                .orElseThrow(() -> new AssertionError("no span \"" + name + "\""));
    }

    private static String text(SpanData span, String key) {
        return span.getAttributes().get(AttributeKey.stringKey(key));
    }

    private static Double number(SpanData span, String key) {
        return span.getAttributes().get(AttributeKey.doubleKey(key));
    }

    @Test
    void a_task_is_a_child_span_of_the_one_that_was_current_at_its_submission() {
        Span request = tracer.spanBuilder("request").startSpan();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            try (Scope scope = request.makeCurrent()) {
                executor.submit("tenant-a", "import", () -> {
                    time.advance(Duration.ofSeconds(3));
                    return "value";
                });
            }
            time.advance(Duration.ofMillis(1500));
            steps.runAll();
        }

        SpanData span = span("import");
        assertThat(span.getParentSpanId()).isEqualTo(request.getSpanContext().getSpanId());
        assertThat(span.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
        assertThat(text(span, "raddle.owner")).isEqualTo("tenant-a");
        assertThat(text(span, "raddle.task")).isEqualTo("import");
        assertThat(text(span, "raddle.outcome")).isEqualTo("success");
        assertThat(number(span, "raddle.wait")).isEqualTo(1.5);
        assertThat(number(span, "raddle.run")).isEqualTo(3.0);
        assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(span.getEvents()).extracting(EventData::getName).containsExactly("started");
        request.end();
    }

    @Test
    void a_task_of_a_scope_is_a_span_with_the_scopes_name_and_parent_of_the_spans_it_begins() throws Exception {
        Span request = tracer.spanBuilder("request").startSpan();
        try (Scope current = request.makeCurrent();
                ThreadScope scope =
                        ThreadScope.open("checkout").addListener(tracing).addPropagator(tracing)) {
            Task<String> price = scope.submit("price", () -> {
                tracer.spanBuilder("query").startSpan().end();
                return "value";
            });
            assertThat(price.await()).isEqualTo("value");
        } finally {
            request.end();
        }

        assertThat(span("price").getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        assertThat(text(span("price"), "raddle.owner")).isEqualTo("checkout");
        assertThat(text(span("price"), "raddle.outcome")).isEqualTo("success");
        assertThat(span("query").getParentSpanId()).isEqualTo(span("price").getSpanId());
    }

    @Test
    void inside_a_task_its_span_is_current_and_parent_of_the_spans_it_begins() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build())) {
            executor.submit("a", "outer", () -> {
                        tracer.spanBuilder("query").startSpan().end();
                        return executor.submit("b", "inner", () -> "value")
                                .await()
                                .value();
                    })
                    .await();
        }

        assertThat(span("outer").getParentSpanContext().isValid()).isFalse();
        assertThat(span("query").getParentSpanId()).isEqualTo(span("outer").getSpanId());
        assertThat(span("inner").getParentSpanId()).isEqualTo(span("outer").getSpanId());
    }

    @Test
    void a_task_has_the_baggage_of_its_submitter() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build())) {
            TaskHandle<String> handle;
            try (Scope scope = Baggage.builder().put("user", "u-17").build().makeCurrent()) {
                handle = executor.submit("a", "t1", () -> Baggage.current().getEntryValue("user"));
            }

            assertThat(handle.await().value()).isEqualTo("u-17");
        }
    }

    @Test
    void a_failure_is_an_error_with_its_exception() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build())) {
            executor.submit("a", "t1", () -> {
                        throw new IOException("on purpose");
                    })
                    .await();
        }

        SpanData span = span("t1");
        assertThat(text(span, "raddle.outcome")).isEqualTo("failed");
        assertThat(text(span, "error.type")).isEqualTo("java.io.IOException");
        assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span.getStatus().getDescription()).isEqualTo("on purpose");
        assertThat(span.getEvents()).extracting(EventData::getName).containsExactly("started", "exception");
    }

    @Test
    void a_rejected_task_is_an_error_that_names_the_rule() {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultQueueThresholdPerGroup(0).build())) {
            executor.submit("a", "runs", () -> "value");
            executor.submit("a", "rejected", () -> "never");
            steps.runAll();
        }

        SpanData span = span("rejected");
        assertThat(text(span, "raddle.outcome")).isEqualTo("rejected");
        assertThat(text(span, "error.type")).isEqualTo("group-queue");
        assertThat(text(span, "raddle.reason")).startsWith("group-queue: 1 of 1 running");
        assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span.getStatus().getDescription()).isEqualTo(text(span, "raddle.reason"));
        assertThat(number(span, "raddle.wait")).isNull();
        assertThat(number(span, "raddle.run")).isNull();
    }

    @Test
    void a_task_that_is_cancelled_while_it_waits_has_a_span_that_never_started() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.submit("a", "t1", () -> "never").cancel(true);
            steps.runAll();
        }

        SpanData span = span("t1");
        assertThat(text(span, "raddle.outcome")).isEqualTo("cancelled");
        assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span.getEvents()).extracting(EventData::getName).containsExactly("exception");
        assertThat(number(span, "raddle.wait")).isNull();
    }

    @Test
    void the_next_task_of_a_thread_does_not_get_the_span_of_one_that_was_cancelled_while_it_ran() {
        AtomicReference<SpanContext> plainlyCurrent = new AtomicReference<>();
        GroupPolicy carrying = GroupPolicy.builder()
                .addPropagator(tracing)
                .scheduler(key -> steps)
                .closeTimeout(Duration.ZERO)
                .build();
        try (GroupExecutor executor =
                        GroupExecutor.newVirtualThreadExecutor(stepped().build());
                GroupExecutor plain = GroupExecutor.newVirtualThreadExecutor(carrying)) {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch cancelled = new CountDownLatch(1);
            TaskHandle<String> handle = executor.submit("a", "cancelled", () -> {
                begun.countDown();
                awaitUninterruptibly(cancelled);
                return "late";
            });
            plain.submit("a", "plain", () -> {
                plainlyCurrent.set(Span.current().getSpanContext());
                return "value";
            });
            Thread runner = Thread.ofPlatform().start(steps::runAll);
            awaitUninterruptibly(begun);
            handle.cancel(true);
            cancelled.countDown();
            joinUninterruptibly(runner);
        }

        assertThat(text(span("cancelled"), "raddle.outcome")).isEqualTo("cancelled");
        assertThat(number(span("cancelled"), "raddle.run")).isNotNull();
        assertThat(plainlyCurrent.get().isValid()).isFalse();
    }

    @Test
    void every_attempt_of_a_task_has_its_span() throws Exception {
        List<String> current = new ArrayList<>();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build())) {
            executor.submit(
                            "a",
                            TaskSpec.named("t1", () -> {
                                        current.add(
                                                Span.current().getSpanContext().getSpanId());
                                        assertThat(executor.call(
                                                        "b",
                                                        () -> Span.current()
                                                                .getSpanContext()
                                                                .getSpanId()))
                                                .isNotEqualTo(current.getFirst());
                                        if (current.size() < 3) {
                                            throw new IOException("on purpose");
                                        }
                                        return "value";
                                    })
                                    .retry(RetryPolicy.attempts(3)))
                    .await();
        }

        String id = span("t1").getSpanId();
        assertThat(current).containsExactly(id, id, id);
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().startsWith("call-"))
                .hasSize(3)
                .allSatisfy(span -> assertThat(span.getParentSpanId()).isEqualTo(id));
    }

    @Test
    void a_context_without_a_span_that_is_installed_inside_a_task_does_not_get_the_span_of_the_task() throws Exception {
        GroupPolicy carrying = GroupPolicy.builder().addPropagator(tracing).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build());
                GroupExecutor plain = GroupExecutor.newVirtualThreadExecutor(carrying)) {
            TaskHandle<String> handle = executor.submit("a", "t1", () -> {
                Span own = tracer.spanBuilder("own").startSpan();
                try (Scope scope = own.makeCurrent()) {
                    return plain.call("b", () -> Span.current().getSpanContext().getSpanId());
                } finally {
                    own.end();
                }
            });

            assertThat(handle.await().value()).isEqualTo(span("own").getSpanId());
        }
    }

    @Test
    void the_previous_context_of_a_thread_is_restored() throws Exception {
        Span request = tracer.spanBuilder("request").startSpan();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(traced().build());
                Scope scope = request.makeCurrent()) {
            Context before = Context.current();
            executor.call("a", () -> "value");

            assertThat(Context.current()).isSameAs(before);
        }
        request.end();
    }

    @Test
    void span_names_can_be_those_of_kinds_of_tasks() throws Exception {
        TaskTracing named = tracing.withSpanName(
                task -> task.name().substring(0, task.name().indexOf('-')));
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                untraced().addListener(named).addPropagator(named).build())) {
            executor.submit("a", "import-17", () -> "value").await();
        }

        assertThat(text(span("import"), "raddle.task")).isEqualTo("import-17");
        assertThat(suppressed).isEmpty();
    }

    @Test
    void a_task_whose_span_could_not_be_created_runs_without_one() throws Exception {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        TaskTracing broken = tracing.withSpanName(task -> {
            throw thrown;
        });
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                untraced().addListener(broken).addPropagator(broken).build())) {
            assertThat(executor.submit("a", "t1", () -> "value").await().value())
                    .isEqualTo("value");
        }

        assertThat(suppressed).containsExactly(thrown);
        assertThat(exporter.getFinishedSpanItems()).isEmpty();
    }

    @Test
    void a_skipped_task_has_a_reason_and_is_not_an_error() {
        TaskIdentity task = new Named("t1");
        tracing.onSubmitted(task);
        tracing.onSettled(task, new Outcome.Skipped<>("nobody needs it"), 0);

        assertThat(text(span("t1"), "raddle.outcome")).isEqualTo("skipped");
        assertThat(text(span("t1"), "raddle.reason")).isEqualTo("nobody needs it");
        assertThat(span("t1").getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    }

    @Test
    void a_captured_context_can_be_installed_in_several_threads_each_with_the_span_of_its_task() throws Exception {
        ContextPropagator.Captured shared = tracing.capture();
        List<String> current = new ArrayList<>();
        for (String name : List.of("t1", "t2")) {
            Thread thread = Thread.ofPlatform().start(() -> {
                TaskIdentity task = new Named(name);
                tracing.onSubmitted(task);
                tracing.onStarted(task, 0);
                try (ContextPropagator.Installed installed = shared.install()) {
                    current.add(Span.current().getSpanContext().getSpanId());
                }
                tracing.onSettled(task, new Outcome.Success<>(null), 0);
            });
            thread.join();
        }

        assertThat(current).containsExactly(span("t1").getSpanId(), span("t2").getSpanId());
    }

    private static String currentSpan() {
        return Span.current().getSpanContext().getSpanId();
    }

    @Test
    void the_nodes_of_a_flow_are_child_spans_of_the_starters_and_current_in_begin_callbacks_and_all_attempts()
            throws Exception {
        Map<String, List<String>> current = new ConcurrentHashMap<>();
        BiConsumer<String, String> see =
                (node, span) -> current.computeIfAbsent(node, unknown -> new CopyOnWriteArrayList<>())
                        .add(span);
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> deep = inner.node("deep", () -> {
            see.accept("deep", currentSpan());
            return "D";
        });
        FlowPlan<String, String> innerPlan = inner.returning(deep);
        FlowBuilder<Void> f = FlowPlan.define("outer");
        Node<String> a = f.node("a", () -> {
                    see.accept("a", currentSpan());
                    if (current.get("a").size() < 3) {
                        throw new IOException("again");
                    }
                    return "A";
                })
                .retry(RetryPolicy.attempts(3))
                .onBegin(context -> see.accept("a", currentSpan()));
        Node<String> b = f.node("b", a, x -> {
            see.accept("b", currentSpan());
            return x;
        });
        f.node("in a group", b, x -> {
                    see.accept("in a group", currentSpan());
                    return x;
                })
                .group("tenant-a");
        f.subflow("sub", innerPlan, a);

        CountDownLatch settledInGroup = new CountDownLatch(1); // shortly after its slot is free, and so after close()
        TaskListener settled = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                settledInGroup.countDown();
            }
        };
        Span request = tracer.spanBuilder("request").startSpan();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .addListener(tracing.and(settled))
                .addPropagator(tracing)
                .build())) {
            try (Scope scope = request.makeCurrent()) {
                f.build()
                        .run(
                                null,
                                RunOptions.defaults()
                                        .withGroups(executor::scheduler)
                                        .addListener(tracing)
                                        .addPropagator(tracing));
            }
        }
        settledInGroup.await();
        request.end();

        assertThat(current.get("a"))
                .as("the callback, and two attempts")
                .hasSize(3)
                .containsOnly(span("a").getSpanId());
        assertThat(current.get("b")).containsOnly(span("b").getSpanId());
        for (String node : List.of("a", "b", "sub")) {
            assertThat(span(node).getTraceId())
                    .isEqualTo(request.getSpanContext().getTraceId());
            assertThat(span(node).getParentSpanId())
                    .isEqualTo(request.getSpanContext().getSpanId());
        }
        assertThat(span("deep").getParentSpanId()).isEqualTo(span("sub").getSpanId());
        assertThat(exporter.getFinishedSpanItems())
                .filteredOn(span -> span.getName().equals("in a group"))
                .as("that of the flow and that of the group")
                .hasSize(2)
                .allSatisfy(span -> assertThat(span.getParentSpanId())
                        .isEqualTo(request.getSpanContext().getSpanId()))
                .extracting(span -> text(span, "raddle.owner"))
                .containsExactlyInAnyOrder("outer", "tenant-a");
    }

    private record Named(String name) implements TaskIdentity {
        @Override
        public String owner() {
            return "nightly";
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean open = false;
        while (!open) {
            try {
                latch.await();
                open = true;
            } catch (InterruptedException cancelled) {
                assertThat(cancelled).isNotNull(); // ignored: the task does not respond to interrupts
            }
        }
    }

    private static void joinUninterruptibly(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupt) {
            throw new AssertionError("interrupted while waiting for " + thread, interrupt);
        }
    }

    @Test
    void a_durable_run_continues_the_trace_of_its_submitter_in_another_process() throws Exception {
        RunOptions options = RunOptions.defaults().addListener(tracing).addPropagator(tracing);
        Span request = tracer.spanBuilder("request").startSpan();
        Map<String, String> saved;
        try (Scope scope = request.makeCurrent();
                Scope inner = Baggage.builder().put("tenant", "a").build().makeCurrent()) {
            saved = options.savedContext();
        }
        request.end();

        TaskTracing other = TaskTracing.of(sdk);
        FlowBuilder<Void> f = FlowPlan.define("continued");
        Node<String> tenant =
                f.node("step", () -> currentSpan() + " " + Baggage.current().getEntryValue("tenant"));
        String seen = f.returning(tenant)
                .run(
                        null,
                        RunOptions.defaults()
                                .addListener(other)
                                .addPropagator(other)
                                .withSavedContext(saved))
                .value();

        assertThat(saved).containsOnlyKeys("traceparent", "baggage");
        assertThat(seen).isEqualTo(span("step").getSpanId() + " a");
        assertThat(span("step").getParentSpanId())
                .isEqualTo(request.getSpanContext().getSpanId());
        assertThat(span("step").getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
        assertThat(RunOptions.defaults().addPropagator(tracing).savedContext())
                .as("without a span there is nothing to save")
                .isEmpty();
    }
}
