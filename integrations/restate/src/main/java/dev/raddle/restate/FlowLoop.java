package dev.raddle.restate;

import dev.raddle.flow.CallResult;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.FlowStepper;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.flow.Step;
import dev.raddle.group.GroupExecutor;
import dev.restate.sdk.DurableFuture;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.common.TerminalException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of one run: executes the steps of a flow as commands of the engine, until the run ends or the attempt
 * does.
 *
 * @param <R> the type of the value of the run
 */
final class FlowLoop<R> {

    /*
     * Overview.
     *
     * The stepper decides; this loop turns its steps into commands of the engine, waits for any of them to be done,
     * reports that to the stepper, and repeats:
     *
     *   Start, Compensate   a stored action: the engine stores what it returns, and does not run it again
     *   AwaitSignal         a promise of the workflow, which the handler "signal" resolves
     *   a moment            a timer, and a stored action that reads the clock when the timer has fired
     *   Cancel              an interrupt of the action, if it runs in this process; its command is not awaited any more
     *   Complete            the end of the handler
     *
     * When an attempt ends early, because the process dies or the engine suspends the run, another attempt begins with
     * a new stepper and repeats all of this from the start. The engine then answers each command with what it has
     * stored, in the order in which it was stored. So the loop must issue the same commands in the same order whenever
     * it receives the same answers:
     *
     *   (1)  Only this thread issues commands, and only from what the stepper has returned, which depends on nothing
     *        but the plan and the reports.
     *   (2)  A report contains only what the engine has stored: the results of calls in their encoded form, also in
     *        the attempt that has made them, and the times at which they ended.
     *   (3)  Of several answers the engine's order decides which is reported first. `any` returns one at a time.
     *   (4)  The clock of this process is read in stored actions, and for the length of a timer, which the engine
     *        ignores when it has the timer already.
     *
     * Moments are in nanoseconds since the start of the run, which is stored with the first command. Since timers
     * cannot be cancelled, at most one is awaited, the earliest; another is issued only if something is due before it.
     *
     * A cancellation arrives at any wait, as -1 from awaitAny. It ends that wait only, not the command that was waited
     * for, which can be awaited again.
     */

    /** A call that is under way, or the promise of a signal, which has no work. */
    private record Pending(String node, Step.@Nullable Work work, DurableFuture<byte[]> future) {}

    private static final int CANCELLED = -1;
    private static final int MAX_MESSAGE = 4_000;

    private final WorkflowContext context;
    private final String flow; // the name of the flow, for messages
    private final FlowStepper<R> stepper;
    private final PlanShape shape;
    private final Values values;
    private final @Nullable GroupExecutor groups;
    private final LocalCalls calls;
    private final Map<String, Pending> pending = new LinkedHashMap<>(); // by the ids of nodes
    private final TreeMap<Long, DurableFuture<Void>> timers = new TreeMap<>(); // not fired, by their moments
    private long startNanos; // since 1970
    private long lastMoment; // the latest that was reported
    private boolean cancelRequested;

    FlowLoop(
            WorkflowContext context,
            String flow,
            FlowStepper<R> stepper,
            PlanShape shape,
            Values values,
            @Nullable GroupExecutor groups,
            LocalCalls calls) {
        this.context = context;
        this.flow = flow;
        this.stepper = stepper;
        this.shape = shape;
        this.values = values;
        this.groups = groups;
        this.calls = calls;
    }

    /**
     * Runs the flow to its end.
     *
     * @return the encoded value of the flow; empty if it is null
     * @throws TerminalException if the flow has no success, or cannot be continued
     */
    byte[] run() {
        execute(stepper.start(begin()));
        while (!stepper.isComplete()) {
            if (cancelRequested) {
                cancelRequested = false;
                execute(stepper.cancel("the invocation was cancelled", lastMoment));
            } else {
                awaitNext();
            }
        }
        return encodedResult(stepper.result());
    }

    // The beginning.

    /**
     * Stores the time and the plan at the start of the run, or checks that this is the plan, and returns the time.
     *
     * @throws IllegalStateException if it is another plan. The engine then tries again, and in the end pauses the run:
     *     it accepts no end of a run before all stored commands were issued again
     */
    private Instant begin() {
        Timed beginning = store("begin " + flow, shape::toBytes);
        String difference = shape.differenceTo(PlanShape.fromBytes(beginning.body()));
        if (!difference.isEmpty()) {
            throw new IllegalStateException("run \"" + context.key() + "\" of flow \"" + flow
                    + "\" began with another plan: " + difference
                    + "; serve that plan here again, and a changed plan at"
                    + " a new address, so that the engine continues each run where it began");
        }
        startNanos = beginning.epochNanos();
        return Instant.ofEpochSecond(0, startNanos);
    }

    /** Stores some bytes and the time, or returns what an earlier attempt has stored here. */
    private Timed store(String name, Supplier<byte[]> body) {
        return Timed.fromBytes(await(context.runAsync(name, Bytes.SERDE, () -> Timed.now(body.get()))));
    }

    // Steps.

    private void execute(List<Step> steps) {
        for (Step step : steps) {
            switch (step) {
                case Step.Work work -> addPending(work.node(), work, begin(work));
                case Step.AwaitSignal signal -> addPending(signal.node(), null, promiseOf(signal.node()));
                case Step.Cancel cancel -> {
                    pending.remove(cancel.node());
                    calls.cancel(cancel.node());
                }
                case Step.Ended ended -> pending.remove(ended.node());
                default -> {} // a moment or the end, for which the stepper is asked
            }
        }
    }

    private void addPending(String node, Step.@Nullable Work work, DurableFuture<byte[]> future) {
        pending.put(node, new Pending(node, work, future));
    }

    private DurableFuture<byte[]> promiseOf(String node) {
        return context.promise(SignalHandler.promise(node)).future();
    }

    private DurableFuture<byte[]> begin(Step.Work work) {
        return context.runAsync(nameOf(work), Bytes.SERDE, () -> callAndEncode(work));
    }

    /** Returns the name of a command, which the engine shows, and compares in later attempts. */
    private static String nameOf(Step.Work work) {
        String name = work instanceof Step.Compensate ? "undo " + work.node() : work.node();
        return work.attempt() == 1 ? name : name + ", attempt " + work.attempt();
    }

    /** Calls a function of the user, in a thread of its own. An exception is a result, too. */
    private byte[] callAndEncode(Step.Work work) throws Exception {
        CallResult result = calls.call(work.node(), () -> inGroup(work));
        byte[] stored = Timed.now(values.encodeResult(work.node(), result));
        if (calls.isClosed()) {
            throw new IOException("the connection to the engine has ended, which interrupted the call");
        }
        return stored;
    }

    private CallResult inGroup(Step.Work work) {
        if (!(work instanceof Step.Start start) || start.group() == null) {
            return stepper.call(work);
        }
        if (groups == null) {
            return new CallResult.Failed(new IllegalStateException("node \"" + work.node() + "\" of flow \"" + flow
                    + "\" runs in a group, and the service has none; set them with RestateOptions.withGroups"));
        }
        try {
            return groups.call(start.group(), () -> stepper.call(work));
        } catch (Throwable notRun) { // the call itself throws nothing
            return new CallResult.Failed(notRun);
        }
    }

    // Waiting.

    private void awaitNext() {
        setTimer();
        List<Pending> awaited = List.copyOf(pending.values());
        List<DurableFuture<?>> futures = new ArrayList<>(awaited.size() + 1);
        awaited.forEach(each -> futures.add(each.future()));
        if (!timers.isEmpty()) {
            futures.add(timers.firstEntry().getValue());
        }
        if (futures.isEmpty()) {
            throw new IllegalStateException("flow \"" + flow + "\" has not ended and waits for nothing");
        }
        int done = awaitAny(futures);
        if (done == CANCELLED) {
            cancelRequested = true;
        } else if (done < awaited.size()) {
            report(awaited.get(done));
        } else {
            handleTimer(timers.pollFirstEntry().getKey());
        }
    }

    /** Issues a timer if something is due before the earliest one. */
    private void setTimer() {
        long moment = stepper.nextMoment();
        if (moment == Long.MAX_VALUE || (!timers.isEmpty() && timers.firstKey() <= moment)) {
            return;
        }
        long nanos = Math.max(0, moment - (Timed.nowNanos() - startNanos));
        Duration left =
                Duration.ofMillis(Duration.ofNanos(nanos).plusNanos(999_999).toMillis());
        timers.put(moment, context.timer("until +" + Duration.ofNanos(moment).toMillis() + " ms", left));
    }

    private void handleTimer(long moment) {
        if (stepper.nextMoment() <= moment) { // otherwise what it was set for has ended
            advanceTo(startNanos + moment);
            advanceTo(store("clock", () -> new byte[0]).epochNanos());
            execute(stepper.passed(lastMoment));
        }
    }

    private void report(Pending done) {
        Timed stored = Timed.fromBytes(done.future().await());
        advanceTo(stored.epochNanos());
        String node = done.node();
        pending.remove(node);
        execute(
                done.work() == null
                        ? delivered(node, stored.body())
                        : stepper.settled(done.work(), values.decodeResult(node, stored.body()), lastMoment));
    }

    /** Delivers a signal. A value of another class cancels the run, since another value cannot follow. */
    private List<Step> delivered(String node, byte[] sent) {
        try {
            return stepper.signalled(node, values.decodeSent("signal \"" + node + "\"", sent), lastMoment);
        } catch (IllegalArgumentException wrong) {
            return stepper.cancel(wrong.getMessage(), lastMoment);
        }
    }

    private void advanceTo(long epochNanos) {
        lastMoment = Math.max(lastMoment, epochNanos - startNanos);
    }

    /** Waits until one of the futures is done, and returns its position, or CANCELLED if that came first. */
    private static int awaitAny(List<DurableFuture<?>> futures) {
        try {
            return DurableFuture.any(futures).await();
        } catch (TerminalException cancellation) { // a failure of a future would not be thrown here
            return CANCELLED;
        }
    }

    /** Waits for a result. A cancellation is noted. */
    private byte[] await(DurableFuture<byte[]> future) {
        while (awaitAny(List.of(future)) == CANCELLED) {
            cancelRequested = true;
        }
        return future.await();
    }

    // The end.

    private byte[] encodedResult(FlowResult<R> result) {
        if (result.status() != FlowStatus.SUCCESS && result.status() != FlowStatus.DEGRADED) {
            int code = result.status() == FlowStatus.CANCELLED
                    ? TerminalException.CANCELLED_CODE
                    : TerminalException.INTERNAL_SERVER_ERROR_CODE;
            throw new TerminalException(code, explained(result));
        }
        return values.encodeOutput(flow, valueOf(result));
    }

    /** Returns the value of a run with success. It has none if its output was skipped, or has failed in part. */
    private R valueOf(FlowResult<R> result) {
        try {
            return result.value();
        } catch (RuntimeException noValue) {
            throw new TerminalException(
                    TerminalException.INTERNAL_SERVER_ERROR_CODE,
                    String.valueOf(RecordedFailure.of(noValue).message()));
        }
    }

    /**
     * Returns the status, why the node did not succeed whose failure is that of the run, and which compensations have
     * failed. If the run has no failure, the node is the first one whose state explains the status.
     */
    private String explained(FlowResult<R> result) {
        StringBuilder text = new StringBuilder("flow \"" + flow + "\" is " + result.status());
        Throwable failure = result.failure();
        result.nodes().stream()
                .filter(node -> failure == null ? hasFailed(node.state(), result.status()) : node.cause() == failure)
                .findFirst()
                .map(NodeReport::id)
                .ifPresent(id -> text.append("; node \"" + id + "\": " + result.explain(id)));
        result.compensationFailures().forEach(undo -> text.append("; ").append(undo));
        return text.length() > MAX_MESSAGE ? text.substring(0, MAX_MESSAGE) + "…" : text.toString();
    }

    /** Returns whether the state of a node explains the status of the run. */
    private static boolean hasFailed(NodeState state, FlowStatus status) {
        return switch (status) {
            case CANCELLED -> state == NodeState.CANCELLED;
            case TIMED_OUT -> state == NodeState.TIMED_OUT;
            default -> state == NodeState.FAILED || state == NodeState.TIMED_OUT;
        };
    }
}
