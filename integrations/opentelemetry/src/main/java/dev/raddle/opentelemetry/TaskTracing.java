package dev.raddle.opentelemetry;

import dev.raddle.task.ContextPropagator;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a span of every task, and runs the task in its submitter's context. The span is a child of the one that was current
 * when the task was submitted; it begins there, so it includes the time that the task waited, and ends when the task is
 * settled, also if it never ran. Inside the task it is the current span, and the baggage and whatever else is in the
 * submitter's {@link Context} is there too.
 *
 * {@snippet :
 * TaskTracing tracing = TaskTracing.of(openTelemetry);
 * GroupPolicy policy = GroupPolicy.builder()
 *         .taskListener(tracing)
 *         .propagators(List.of(tracing))
 *         .build();
 * }
 *
 * <p>Make it both listener and propagator of a door. As a listener alone it makes spans that are not current in their tasks;
 * as a propagator alone it carries the context and makes no spans. One object may serve many doors: groups, scopes and flows.
 *
 * <p>A span has the task's name, unless {@link #withSpanName} says otherwise, and these attributes:
 *
 * <ul>
 *   <li>{@code raddle.owner}: the key of the group, or the name of the scope or flow
 *   <li>{@code raddle.task}: the task's name
 *   <li>{@code raddle.outcome}: {@code success}, {@code failed}, {@code cancelled}, {@code rejected} or {@code skipped}
 *   <li>{@code raddle.wait}: seconds from submission to start; missing if the task never started
 *   <li>{@code raddle.run}: seconds from start to end; missing if the task never started
 *   <li>{@code raddle.reason}: why it was rejected or skipped, for people
 *   <li>{@code error.type}: the class of what was thrown, or the rule that left no room, as in {@code group-queue}
 * </ul>
 *
 * <p>An event {@code started} parts waiting from running. A failed, cancelled or rejected task has the status ERROR; the
 * exception of a failed or cancelled one is recorded. A task that runs although it was rejected, in its submitter's thread or
 * by a rejection handler, has the span of a rejected task, and runs in its submitter's context.
 *
 * <p>For every task that is not settled this holds an entry in a map, beside the span.
 */
public final class TaskTracing implements TaskListener, ContextPropagator {

    /*
     * Overview.
     *
     * onSubmitted, onStarted and onSettled are told of one TaskIdentity; install() is not. But install() follows onStarted
     * in the same thread. So onStarted leaves the span where the thread's next install() finds it: in `running`, a stack of
     * the tasks that this thread is inside of. It is deeper than one if a task calls another in its own thread.
     *
     * A task may be installed more than once, for each attempt. And a thread inside a traced task may install the context of
     * another task that has no span. To tell one from the other, a span belongs to the first captured context that is
     * installed while it is on top; installing another context leaves it alone.
     *
     * A task may be settled while its thread is still inside of it, by who cancels it. Its entry then stays on that thread's
     * stack, marked as ended, until the thread's next look at the stack throws it away.
     */

    private static final AttributeKey<String> OWNER = AttributeKey.stringKey("raddle.owner");
    private static final AttributeKey<String> TASK = AttributeKey.stringKey("raddle.task");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("raddle.outcome");
    private static final AttributeKey<Double> WAIT = AttributeKey.doubleKey("raddle.wait");
    private static final AttributeKey<Double> RUN = AttributeKey.doubleKey("raddle.run");
    private static final AttributeKey<String> REASON = AttributeKey.stringKey("raddle.reason");
    private static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");
    private static final double NANOS_PER_SECOND = 1e9;

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
     * @param openTelemetry whose tracer to use
     * @return a new tracing
     */
    public static TaskTracing of(OpenTelemetry openTelemetry) {
        return of(openTelemetry.getTracer("dev.raddle"));
    }

    /**
     * Returns a tracing whose spans come from a given tracer.
     *
     * @param tracer begins the spans
     * @return a new tracing
     */
    public static TaskTracing of(Tracer tracer) {
        return new TaskTracing(Objects.requireNonNull(tracer, "tracer"), TaskIdentity::name);
    }

    /**
     * Returns a tracing like this one whose spans have other names. Backends group spans by their names, so a name should
     * stand for a kind of task: where tasks are called {@code import-1}, {@code import-2} and so on, {@code import} is better.
     *
     * @param name the name of a task's span; what it throws goes to the door's sink, and the task has no span
     * @return a new tracing
     */
    public TaskTracing withSpanName(Function<TaskIdentity, String> name) {
        return new TaskTracing(tracer, Objects.requireNonNull(name, "name"));
    }

    /** A task with a span, and the one that its thread was inside of before. */
    private static final class Traced {
        final Span span;
        boolean started; // written and read before and after the callable, whose end happens-after its start

        @Nullable
        Captured owner; // used by the runner only, like `outer`

        @Nullable
        Traced outer;

        volatile boolean ended;

        Traced(Span span) {
            this.span = span;
        }
    }

    // The listener.

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
                String reason = rejected.reason();
                int colon = reason.indexOf(':');
                span.setAttribute(ERROR_TYPE, colon < 0 ? "rejected" : reason.substring(0, colon));
                span.setAttribute(REASON, reason).setStatus(StatusCode.ERROR, reason);
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

    // The propagator.

    @Override
    public Captured capture() {
        return new CapturedParent(Context.current());
    }

    /** The submitter's context: an object of its own for each task, by which {@link #spanFor} knows it again. */
    private final class CapturedParent implements Captured {
        private final Context context;

        CapturedParent(Context context) {
            this.context = context;
        }

        @Override
        @SuppressWarnings("MustBeClosedChecker") // by who installs it
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

    /** Returns the task that this thread is inside of, after throwing away those that have ended. */
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

    /** Returns how many spans have begun and not ended. */
    int openSpans() {
        return open.size();
    }

    @Override
    public String toString() {
        return "tracing of tasks, " + open.size() + " open";
    }
}
