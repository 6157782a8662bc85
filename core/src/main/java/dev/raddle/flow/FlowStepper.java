package dev.raddle.flow;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run of a flow without threads and without a clock: it decides, and its driver acts. The driver starts actions,
 * reports their results and the time, and keeps the state; it can therefore be a database, a distributed engine, or a
 * loop in a test. {@link FlowPlan#start} drives the same decisions by the threads of this JVM.
 *
 * {@snippet :
 * FlowStepper<Receipt> stepper = plan.stepper(order, RunOptions.timeout(Duration.ofDays(3)));
 * Deque<Step> steps = new ArrayDeque<>(stepper.start(Instant.now()));
 * for (Step step; (step = steps.poll()) != null; ) {
 *     if (step instanceof Step.Work work) {
 *         steps.addAll(stepper.settled(work.node(), stepper.call(work), nanosSinceStart()));
 *     }
 * }
 * }
 *
 * <p>Each method that reports something returns the steps that follow from it, in an order that depends on the plan and
 * the reports only. Therefore a driver may {@linkplain #save save} the state after any report and load it elsewhere, or
 * write down its reports and repeat them. For that, conditions, keys of groups, defaults, the elements of a {@code map}
 * and the moments of sleeps must depend on nothing but the parameter and the values of upstream nodes: the stepper
 * itself calls these functions, and result callbacks, in the driver's thread. Actions with their retry policies,
 * fallbacks and begin callbacks, and compensations, are called by {@link #call} only, and may do anything.
 *
 * <p>Moments are in nanoseconds since the start, as the driver measures them; one that is earlier than the last reported
 * one counts as that. A node of a nested flow has the ids of its path, separated by slashes, such as {@code
 * "ship/label"} or {@code "images/images[3]"}.
 *
 * <p>A stepper is not thread-safe: one thread at a time may use it, except for {@link #call}, which any thread may call
 * at any time.
 *
 * @param <R> the type of the value of the run
 */
public final class FlowStepper<R> {

    FlowStepper() {}

    /**
     * Starts the run. Called once, before all other methods that report something.
     *
     * @param at the moment zero on the wall clock, from which {@linkplain FlowBuilder#sleepUntil sleeps until a
     *     moment} are counted
     * @return the first steps
     */
    public List<Step> start(Instant at) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Calls the action or compensation of a step, in the calling thread and its context. For an action this calls the
     * begin callback before the first attempt, and evaluates the retry policy and then the fallback if the action
     * throws. An exception becomes a part of the result.
     *
     * <p>What the result means is decided by {@link #settled}; this method changes nothing.
     *
     * @param work the step
     * @return the result, to be reported; a failure if the node has ended already
     */
    public CallResult call(Step.Work work) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Reports the result of a call. A report about a node that has ended meanwhile has no effect.
     *
     * @param node the id of the node
     * @param result the result
     * @param atNanos the moment of the report
     * @return the steps that follow
     * @throws IllegalArgumentException if there is no such node
     * @throws IllegalStateException if no call of the node is under way
     */
    public List<Step> settled(String node, CallResult result, long atNanos) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Delivers a signal. If the node has not been reached, the value is kept until then. If the signal was delivered
     * before, or the node has ended, this has no effect.
     *
     * @param node the id of the node, declared by {@link FlowBuilder#signal}
     * @param value the value
     * @param atNanos the moment of the delivery
     * @return the steps that follow
     * @throws IllegalArgumentException if there is no such signal, or the value is not of its type
     */
    public List<Step> signalled(String node, @Nullable Object value, long atNanos) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Reports the time, at the {@linkplain #nextMoment next moment} or later: timeouts, the deadline of the run, the
     * ends of sleeps and of the delays between attempts that have passed take effect, in the order of their moments.
     * The other reports do not do this, so that a driver decides whether a result precedes a deadline.
     *
     * @param atNanos the moment
     * @return the steps that follow
     */
    public List<Step> passed(long atNanos) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Cancels all nodes that have not ended. Has no effect if the run has ended or was stopped.
     *
     * @param reason the reason, for messages
     * @param atNanos the moment of the report
     * @return the steps that follow
     */
    public List<Step> cancel(String reason, long atNanos) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Returns the moment at which something takes effect if the driver reports it by {@link #passed}.
     *
     * @return nanoseconds since the start; {@link Long#MAX_VALUE} if the run waits for no moment
     */
    public long nextMoment() {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Returns the steps that are under way: calls that were not reported, sleeps and signals. After a state was loaded,
     * the driver makes these calls again.
     *
     * @return steps of the classes Start, Compensate, SleepUntil and AwaitSignal, by position of the node
     */
    public List<Step> pending() {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Returns whether the run has ended.
     *
     * @return true after a step {@link Step.Complete}
     */
    public boolean isComplete() {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Returns the current state of a node.
     *
     * @param node the id of the node
     * @return its state
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String node) {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Returns the result of the run.
     *
     * @return the result
     * @throws IllegalStateException if the run has not ended
     */
    public FlowResult<R> result() {
        throw new UnsupportedOperationException("follows");
    }

    /**
     * Encodes the complete state of the run, between two reports. It begins with a number for the version of the format
     * and a digest of the plan, and ends with a checksum. Of exceptions it contains the texts only.
     *
     * @param codec the codec for the parameter and the values of nodes
     * @return the bytes, for {@link FlowPlan#stepper(byte[], FlowCodec)}
     * @throws IOException if the codec cannot encode a value
     */
    public byte[] save(FlowCodec codec) throws IOException {
        throw new UnsupportedOperationException("follows");
    }
}
