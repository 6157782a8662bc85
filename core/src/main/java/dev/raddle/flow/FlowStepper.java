package dev.raddle.flow;

import dev.raddle.kernel.StackRoom;
import dev.raddle.task.CancelledException;
import dev.raddle.time.TimeSource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
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
 *         steps.addAll(stepper.settled(work, stepper.call(work), nanosSinceStart()));
 *     }
 * }
 * }
 *
 * <p>Each method that reports something returns the steps that follow from it, in an order that depends on the plan and
 * the reports only. Therefore a driver may write down its reports and repeat them. For that, conditions, keys of
 * groups, defaults, the elements of a {@code map} and the moments of sleeps must depend on nothing but the parameter
 * and the values of upstream nodes: the stepper itself calls these functions, and result callbacks, in the driver's
 * thread. Actions with their retry policies, fallbacks and begin callbacks, and compensations, are called by {@link
 * #call} only, and may do anything.
 *
 * <p>Moments are in nanoseconds since the start, as the driver measures them; one that is earlier than the last
 * reported one counts as that. A node of a nested flow has the ids of its path, separated by slashes, such as {@code
 * "ship/label"} or {@code "images/images[3]"}.
 *
 * <p>A stepper is not thread-safe: one thread at a time may use it, except for {@link #call}, which any thread may call
 * at any time.
 *
 * @param <R> the type of the value of the run
 */
public final class FlowStepper<R> {

    /** A node of one of the runs. */
    private record Place(SteppedRun run, int node) {}

    final StepperTime time = new StepperTime();
    final TimeSource realTime; // for the actions
    final Map<String, SteppedRun> runs =
            new ConcurrentSkipListMap<>(); // that have not ended, by path, outer ones first
    private final SteppedRun root;
    private List<Step> steps = new ArrayList<>();
    private boolean hasStarted;
    private boolean isReporting;

    FlowStepper(Graph graph, @Nullable Object parameter, RunOptions.Values options) {
        if (options.journal != null || options.deadline != null) {
            throw new IllegalArgumentException("a stepper of flow \"" + graph.name + "\" has "
                    + (options.journal != null
                            ? "no journal: its driver keeps its state"
                            : "no clock, and a deadline is " + "a moment on a clock; set a timeout"));
        }
        if (!options.again.isEmpty()) {
            throw new IllegalArgumentException(
                    "a stepper of flow \"" + graph.name + "\" cannot run nodes again, since it has no journal");
        }
        realTime = options.time == null ? TimeSource.system() : options.time;
        root = new SteppedRun(this, graph, parameter, options.forStepper(time), null, NodeEnd.NO_NODE);
    }

    void add(Step step) {
        steps.add(step);
    }

    /** Applies a report and returns the steps that follow from it. */
    private List<Step> report(long atNanos, Runnable action) {
        if (isReporting) {
            throw new IllegalStateException("a stepper of flow \"" + root.run.graph.name
                    + "\" is used by another thread, or by a function that it calls; let one thread drive it");
        }
        if (!hasStarted) {
            throw new IllegalStateException(
                    "a stepper of flow \"" + root.run.graph.name + "\" was not started; call start first");
        }
        isReporting = true;
        try {
            time.moveTo(atNanos);
            action.run();
            List<Step> taken = steps;
            steps = new ArrayList<>();
            return taken;
        } finally {
            isReporting = false;
        }
    }

    /** Returns the node with an id, the innermost run first, or null if there is none. Safe for any thread. */
    private @Nullable Place find(String id) {
        Place found = null;
        for (int slash = id.lastIndexOf('/'); found == null && slash >= 0; slash = id.lastIndexOf('/', slash - 1)) {
            found = find(id.substring(0, slash + 1), id.substring(slash + 1));
        }
        return found == null ? find("", id) : found;
    }

    private @Nullable Place find(String path, String id) {
        SteppedRun run = runs.get(path);
        int node = run == null ? NodeEnd.NO_NODE : run.run.graph.find(id);
        return run == null || node < 0 ? null : new Place(run, node);
    }

    /** Returns whether an id is that of a node in a nested run that has ended. */
    private boolean isInEndedRun(String node) {
        for (int slash = node.lastIndexOf('/'); slash >= 0; slash = node.lastIndexOf('/', slash - 1)) {
            Place outer = find(node.substring(0, slash));
            if (outer != null) {
                RunFacts around = outer.run().run;
                Object slot = around.states.get(outer.node());
                return around.graph.is(Graph.NESTED, outer.node()) && slot != null && !(slot instanceof SteppedRun);
            }
        }
        return false;
    }

    /**
     * Starts the run. Called once, before all other methods that report something.
     *
     * @param at the moment zero on the wall clock, from which {@linkplain FlowBuilder#sleepUntil sleeps until a
     *     moment} are counted
     * @return the first steps
     */
    public List<Step> start(Instant at) {
        if (hasStarted) {
            throw new IllegalStateException("a stepper of flow \"" + root.run.graph.name + "\" is started once");
        }
        hasStarted = true;
        time.setOrigin(at);
        return report(0, () -> root.begin(Run.newRunner(null)));
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
        Place place = find(work.node());
        if (place == null) {
            return new CallResult.Failed(new CancelledException("node \"" + work.node() + "\" of " + root.label()
                    + " is not to be called; it has ended with its run"));
        }
        return work instanceof Step.Compensate
                ? place.run().callCompensation(place.node(), work.attempt())
                : place.run().call(place.node(), work.attempt());
    }

    /**
     * Reports the result of a call. A repeated report, and one about a node that has ended meanwhile, have no effect.
     *
     * @param work the step that was called
     * @param result the result
     * @param atNanos the moment of the report
     * @return the steps that follow
     * @throws IllegalArgumentException if there is no such node
     * @throws IllegalStateException if no call of the node is under way
     */
    public List<Step> settled(Step.Work work, CallResult result, long atNanos) {
        Objects.requireNonNull(result, "result");
        String node = work.node();
        return report(atNanos, () -> {
            Place place = find(node);
            if (place == null) {
                if (!isInEndedRun(node)) {
                    root.run.graph.indexOf(node); // throws, and names the nodes
                }
                return; // too late
            }
            if (work instanceof Step.Compensate) {
                place.run().compensated(place.node(), work.attempt(), result);
            } else {
                place.run().settled(place.node(), work.attempt(), result);
            }
        });
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
        Signals.ensureType(node, root.run.graph.addressOf(node).type(), value);
        return report(atNanos, () -> {
            if (!root.run.states.hasEnded(node)) {
                Objects.requireNonNull(root.run.signals).deliver(node, value);
            }
        });
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
        return report(time.nanoTime(), () -> {
            boolean fired;
            do {
                fired = time.fireNext(atNanos);
            } while (fired);
            time.moveTo(atNanos);
        });
    }

    /**
     * Cancels all nodes that have not ended. Has no effect if the run has ended or was stopped.
     *
     * @param reason the reason, for messages
     * @param atNanos the moment of the report
     * @return the steps that follow
     */
    public List<Step> cancel(String reason, long atNanos) {
        StackRoom.ensure();
        return report(atNanos, () -> root.stop(reason));
    }

    /**
     * Returns the moment at which something takes effect if the driver reports it by {@link #passed}.
     *
     * @return nanoseconds since the start; {@link Long#MAX_VALUE} if the run waits for no moment
     */
    public long nextMoment() {
        return time.next();
    }

    /**
     * Returns whether the run has ended.
     *
     * @return true after a step {@link Step.Complete}
     */
    public boolean isComplete() {
        return root.hasEnded();
    }

    /**
     * Returns the current state of a node.
     *
     * @param node the id of the node
     * @return its state
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String node) {
        Place found = find(node);
        SteppedRun run = found == null ? root : found.run();
        return run.run.states.state(found == null ? root.run.graph.indexOf(node) : found.node());
    }

    /**
     * Returns the result of the run.
     *
     * @return the result
     * @throws IllegalStateException if the run has not ended
     */
    @SuppressWarnings("unchecked") // the plan was built for this type
    public FlowResult<R> result() {
        if (!root.hasEnded()) {
            throw new IllegalStateException("the run of flow \"" + root.run.graph.name + "\" has not ended");
        }
        return (FlowResult<R>) root.result();
    }

    @Override
    public String toString() {
        return "stepper of " + root.label() + (root.hasEnded() ? ", which has ended" : "");
    }
}
