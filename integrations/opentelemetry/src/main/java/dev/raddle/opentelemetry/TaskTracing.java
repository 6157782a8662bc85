package dev.raddle.opentelemetry;

import dev.raddle.task.CheckReturnValue;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rejection;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Creates a span for every task, and runs the task in its submitter's context. The span is a child of the span that was
 * current when the task was submitted; it begins at submission, so it includes the wait of the task, and ends when the
 * task is settled, even if it never ran. Inside the task it is the current span, together with the baggage and all
 * other values of the submitter's {@link Context}.
 *
 * {@snippet :
 * TaskTracing tracing = TaskTracing.of(openTelemetry);
 * GroupPolicy policy = GroupPolicy.builder()
 *         .addListener(tracing)
 *         .addPropagator(tracing)
 *         .build();
 * }
 *
 * <p>Configure it both as listener and as propagator. As a listener alone it creates spans that are not current in
 * their tasks; as a propagator alone it propagates the context and creates no spans. One object may serve many
 * executors, scopes and flows.
 *
 * <p>A span has the task's name, unless {@link #withSpanName} sets another, and these attributes:
 *
 * <ul>
 *   <li>{@code raddle.owner}: the key of the group, or the name of the scope or flow
 *   <li>{@code raddle.task}: the task's name
 *   <li>{@code raddle.outcome}: {@code success}, {@code failed}, {@code cancelled}, {@code rejected} or {@code skipped}
 *   <li>{@code raddle.wait}: seconds from submission to start; missing if the task never started
 *   <li>{@code raddle.run}: seconds from start to end; missing if the task never started
 *   <li>{@code raddle.reason}: why it was rejected or skipped, for people
 *   <li>{@code error.type}: the class of the exception, or the rule that caused the rejection, as in
 *       {@code group-queue}
 * </ul>
 *
 * <p>An event {@code started} separates waiting from running. A failed, cancelled or rejected task has the status
 * ERROR; the exception of a failed or cancelled task is recorded. A task that runs although it was rejected, in its
 * submitter's thread or by a rejection handler, has the span of a rejected task, and runs in its submitter's context.
 *
 * <p>A durable run continues the trace of its submitter in every process: trace context and baggage are stored with the
 * run, as the headers of W3C. Its nodes are children of the submitter's span, which may have ended. Other values of the
 * {@code Context} are not stored.
 *
 * <p>This object keeps one map entry for each task that is not settled, besides the span.
 */
public final class TaskTracing implements TaskListener, ContextPropagator {

    /*
     * Overview.
     *
     * onSubmitted, onStarted and onSettled receive the same TaskIdentity; install() does not receive it. But install()
     * follows onStarted in the same thread. So onStarted stores the span where the thread's next install() finds it: in
     * `running`, a stack of the tasks that this thread is executing. It has more than one entry if a task runs another
     * in its own thread.
     *
     * A task may be installed more than once, for each attempt. And a thread inside a traced task may install the
     * context of another task without a span. To distinguish these cases, a span belongs to the first captured context
     * that is installed while the span is on top; installing another context does not use it.
     *
     * A task may be settled by a canceller while its thread is still executing it. Its entry then stays on that
     * thread's stack, marked as ended, until the thread's next access to the stack removes it.
     */

    private static final AttributeKey<String> OWNER = AttributeKey.stringKey("raddle.owner");
    private static final AttributeKey<String> TASK = AttributeKey.stringKey("raddle.task");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("raddle.outcome");
    private static final AttributeKey<Double> WAIT = AttributeKey.doubleKey("raddle.wait");
    private static final AttributeKey<Double> RUN = AttributeKey.doubleKey("raddle.run");
    private static final AttributeKey<String> REASON = AttributeKey.stringKey("raddle.reason");
    private static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");
    private static final double NANOS_PER_SECOND = 1e9;

    /** What is stored with a durable run: the headers {@code traceparent}, {@code tracestate} and {@code baggage}. */
    private static final TextMapPropagator SAVED =
            TextMapPropagator.composite(W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance());

    private static final TextMapGetter<Map<String, String>> HEADERS = new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // abstract nevertheless
        public Iterable<String> keys(Map<String, String> saved) {
            return saved.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> saved, String name) {
            return saved == null ? null : saved.get(name);
        }
    };

    private final Tracer tracer;
    private final Function<TaskIdentity, String> spanName;
    private final Map<TaskIdentity, Traced> open; // from onSubmitted to onSettled
    private final ThreadLocal<@Nullable Traced> running;

    private TaskTracing(Tracer tracer, Function<TaskIdentity, String> spanName) {
        this.tracer = tracer;
        this.spanName = spanName;
        this.open = new ConcurrentHashMap<>();
        this.running = new ThreadLocal<>();
    }

    /**
     * Returns a tracing whose spans come from the tracer {@code dev.raddle}.
     *
     * @param openTelemetry the source of the tracer
     * @return a new tracing
     */
    public static TaskTracing of(OpenTelemetry openTelemetry) {
        return of(openTelemetry.getTracer("dev.raddle"));
    }

    /**
     * Returns a tracing whose spans come from a given tracer.
     *
     * @param tracer the tracer that creates the spans
     * @return a new tracing
     */
    public static TaskTracing of(Tracer tracer) {
        return new TaskTracing(Objects.requireNonNull(tracer, "tracer"), TaskIdentity::name);
    }

    /**
     * Returns a tracing like this one with other span names. Backends group spans by their names, so a name should
     * describe a kind of task: if tasks are called {@code import-1}, {@code import-2} and so on, {@code import} is
     * better.
     *
     * @param name the function from a task to the name of its span; if it throws, the exception goes to the exception
     *     sink, and the task has no span
     * @return a new tracing
     */
    @CheckReturnValue
    public TaskTracing withSpanName(Function<TaskIdentity, String> name) {
        return new TaskTracing(tracer, Objects.requireNonNull(name, "name"));
    }

    /** A task with a span, and the task that its thread was executing before. */
    private static final class Traced {
        final Span span;
        boolean started; // written before the callable and read after it; its end happens-after its start

        @Nullable
        Captured owner; // used by the runner only, like `outer`

        @Nullable
        Traced outer;

        volatile boolean ended;

        Traced(Span span) {
            this.span = span;
        }
    }

    // TaskListener.

    @Override
    public void onSubmitted(TaskIdentity task) {
        Span span = tracer.spanBuilder(spanName.apply(task))
                .setParent(Context.current())
                .setAttribute(OWNER, task.owner())
                .setAttribute(TASK, task.name())
                .startSpan();
        open.put(task, new Traced(span));
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        Traced traced = open.get(task);
        if (traced == null) {
            return;
        }
        traced.outer = innermost();
        running.set(traced);
        traced.started = true;
        traced.span.setAttribute(WAIT, waitNanos / NANOS_PER_SECOND).addEvent("started");
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        Traced traced = open.remove(task);
        if (traced == null) {
            return;
        }
        traced.ended = true;
        innermost();
        Span span = traced.span;
        try {
            span.setAttribute(OUTCOME, outcome.status().name().toLowerCase(Locale.ROOT));
            if (traced.started) {
                span.setAttribute(RUN, runNanos / NANOS_PER_SECOND);
            }
            describe(outcome, span);
        } finally {
            span.end();
        }
    }

    private static void describe(Outcome<?> outcome, Span span) {
        switch (outcome) {
            case Outcome.Success<?> success -> {}
            case Outcome.Failure<?> failure -> describe(failure.error(), span);
            case Outcome.Cancelled<?> cancelled -> describe(cancelled.cause(), span);
            case Outcome.Rejected<?> rejected -> {
                Rejection rejection = rejected.rejection();
                span.setAttribute(ERROR_TYPE, rejection.reason().toString())
                        .setAttribute(REASON, rejection.text())
                        .setStatus(StatusCode.ERROR, rejection.text());
            }
            case Outcome.Skipped<?> skipped -> span.setAttribute(REASON, skipped.reason());
        }
    }

    private static void describe(Throwable thrown, Span span) {
        String message = thrown.getMessage();
        span.setAttribute(ERROR_TYPE, thrown.getClass().getName())
                .setStatus(StatusCode.ERROR, message == null ? "" : message)
                .recordException(thrown);
    }

    // ContextPropagator.

    @Override
    public Captured capture() {
        return new CapturedParent(Context.current());
    }

    @Override
    public Map<String, String> save() {
        Map<String, String> headers = new HashMap<>();
        SAVED.inject(Context.current(), headers, (target, name, value) -> headers.put(name, value));
        return headers;
    }

    @Override
    public Captured restore(Map<String, String> saved) {
        return new CapturedParent(SAVED.extract(Context.root(), saved, HEADERS));
    }

    /** The submitter's context: one object for each task, by which {@link #spanFor} recognizes the task. */
    private final class CapturedParent implements Captured {
        private final Context context;

        CapturedParent(Context context) {
            this.context = context;
        }

        @Override
        @SuppressWarnings("MustBeClosedChecker") // by the caller of install()
        public Installed install() {
            Span span = spanFor(this);
            Scope scope = (span == null ? context : context.with(span)).makeCurrent();
            return scope::close;
        }
    }

    private @Nullable Span spanFor(Captured installing) {
        Traced top = innermost();
        if (top == null) {
            return null;
        }
        if (top.owner == null) {
            top.owner = installing;
        }
        return top.owner == installing ? top.span : null;
    }

    /** Returns the task that this thread is executing, after removing tasks that have ended from the stack. */
    private @Nullable Traced innermost() {
        Traced before = running.get();
        Traced top = before;
        while (top != null && top.ended) {
            top = top.outer;
        }
        if (top == null) {
            running.remove();
        } else if (top != before) {
            running.set(top);
        }
        return top;
    }

    /** Returns the number of spans that have begun and not ended. */
    int openSpans() {
        return open.size();
    }

    @Override
    public String toString() {
        return "tracing of tasks, " + open.size() + " open";
    }
}
