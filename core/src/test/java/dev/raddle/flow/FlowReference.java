package dev.raddle.flow;

import dev.raddle.flow.RandomFlow.Clause;
import dev.raddle.flow.RandomFlow.Condition;
import dev.raddle.flow.RandomFlow.Kind;
import dev.raddle.flow.RandomFlow.Spec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A reference implementation of flows that is as simple as possible: sequential and without optimizations.
 *
 * <p>A run is a sequence of steps: a node begins, a running node ends, the run is cancelled or times out. Each step may
 * end further nodes without running them, in an unspecified order; so for such an end this class only determines
 * whether it is {@linkplain #allows allowed} now, and whether it {@linkplain #isDue is due}.
 */
final class FlowReference {

    private final RandomFlow flow;
    private final boolean[] wanted;
    private final List<List<Integer>> consumers = new ArrayList<>();
    private final NodeState[] states;
    private final NodeReport<?>[] reports;
    private final int[] decidedIn; // the step in which each node ended
    private final boolean[] asked; // whether the condition was evaluated
    private final boolean[] triggered; // ready since an earlier step, which counts as begun
    private final boolean[] leftOut; // roots that only restored nodes need
    private final boolean[] early; // skipped in this step because a consumer is ready
    private final List<Integer> succeeded = new ArrayList<>(); // in order
    private int step = 1;
    private NodeState runEnded; // the state of the remaining nodes, or null until the run is stopped
    private boolean cancelled;
    private boolean failed; // the first failure, under fail fast
    private int failedIn; // the step of that failure
    private final boolean concurrent;

    /**
     * Begins a run.
     *
     * @param flow the flow
     * @param concurrent whether nodes that become ready in one step begin concurrently, so that one of them may still
     *     begin while another stops the run
     * @param restored the reports of the nodes that an earlier run has finished, and null for the others
     * @param order these nodes in the order of their ends
     */
    FlowReference(RandomFlow flow, boolean concurrent, NodeReport<?>[] restored, List<Integer> order) {
        this.flow = flow;
        this.concurrent = concurrent;
        int size = flow.size();
        wanted = flow.wanted();
        states = new NodeState[size];
        reports = restored.clone();
        decidedIn = new int[size];
        asked = new boolean[size];
        triggered = new boolean[size];
        early = new boolean[size];
        leftOut = new boolean[size];
        succeeded.addAll(order);
        for (int node = 0; node < size; node++) {
            states[node] = restored[node] == null ? NodeState.PENDING : NodeState.SUCCESS;
            consumers.add(new ArrayList<>());
            for (Clause clause : spec(node).clauses()) {
                clause.upstreams().forEach(up -> consumers.get(up).add(consumers.size() - 1));
            }
        }
        for (int node = 0; node < size; node++) {
            boolean root = spec(node).clauses().isEmpty();
            leftOut[node] = root && isPending(node) && !isNeeded(node, true);
            triggered[node] = root && isReady(node);
        }
    }

    /** Marks the nodes that are ready, which count as begun before a thread takes them: roots from the start. */
    private void markTriggered() {
        for (int node = 0; node < flow.size(); node++) {
            triggered[node] |= isReady(node);
        }
    }

    private Spec spec(int node) {
        return flow.nodes().get(node);
    }

    NodeState state(int node) {
        return states[node];
    }

    boolean isPending(int node) {
        return states[node] == NodeState.PENDING;
    }

    boolean isRunning(int node) {
        return states[node] == NodeState.RUNNING;
    }

    boolean hasEnded() {
        for (int node = 0; node < flow.size(); node++) {
            if (isPending(node) || isRunning(node)) {
                return false;
            }
        }
        return true;
    }

    boolean isOver() {
        return runEnded != null;
    }

    private boolean isTerminal(int node) {
        return !isPending(node) && !isRunning(node);
    }

    private boolean isWithoutSuccess(int node) {
        return isTerminal(node) && states[node] != NodeState.SUCCESS;
    }

    /** Returns whether all dependencies of a node are met, apart from its condition. */
    boolean isReady(int node) {
        boolean tooLate = runEnded != null && !(concurrent && failed && failedIn == step);
        if (!isPending(node) || tooLate || !wanted[node] || leftOut[node]) {
            return false;
        }
        for (Clause clause : clauses(node)) {
            boolean met = switch (clause.kind()) {
                case MUST, ORDER -> states[clause.upstreams().getFirst()] == NodeState.SUCCESS;
                case AFTER -> isTerminal(clause.upstreams().getFirst());
                case OPTIONAL -> true;
                case CHOICE -> successes(clause) >= clause.successes();
            };
            if (!met) {
                return false;
            }
        }
        return true;
    }

    /** Returns the clauses of a node, or one choice of all upstreams if all of them are optional. */
    private List<Clause> clauses(int node) {
        Spec spec = spec(node);
        if (!spec.isAllOptional()) {
            return spec.clauses();
        }
        List<Integer> all = spec.clauses().stream()
                .flatMap(clause -> clause.upstreams().stream())
                .toList();
        return List.of(new Clause(Kind.CHOICE, 1, all));
    }

    private long successes(Clause clause) {
        return clause.upstreams().stream()
                .filter(up -> states[up] == NodeState.SUCCESS)
                .count();
    }

    /**
     * Returns whether a node that has not ended is still needed.
     *
     * @param node the node
     * @param readyIsDecided whether a node that became ready in this step counts as decided already, which is
     *     unspecified
     */
    boolean isNeeded(int node, boolean readyIsDecided) {
        if (consumers.get(node).isEmpty() || spec(node).essential() || node == flow.output() || flow.isTarget(node)) {
            return true;
        }
        for (int consumer : consumers.get(node)) {
            boolean decided = readyIsDecided
                    ? !isPending(consumer) || isReady(consumer)
                    : triggered[consumer] || !isPending(consumer) && !early[consumer];
            if (wanted[consumer] && !decided && isNeeded(consumer, readyIsDecided)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the state of a node must change before the next step. */
    boolean isDue(int node) {
        if (!isPending(node)) {
            return isRunning(node) && (runEnded != null || flow.interruptObsolete() && !isNeeded(node, false));
        }
        return runEnded != null
                || !wanted[node]
                || leftOut[node]
                || isReady(node)
                || !isNeeded(node, false)
                || clauses(node).stream().anyMatch(this::isImpossible);
    }

    private boolean isImpossible(Clause clause) {
        return switch (clause.kind()) {
            case MUST, ORDER -> isWithoutSuccess(clause.upstreams().getFirst());
            case AFTER, OPTIONAL -> false;
            case CHOICE ->
                isImpossible(
                        clause,
                        clause.upstreams().stream()
                                .filter(this::isWithoutSuccess)
                                .toList());
        };
    }

    private static boolean isImpossible(Clause clause, List<Integer> without) {
        return clause.upstreams().size() - without.size() < clause.successes();
    }

    /** Returns whether a node may end now with this report without running. */
    boolean allows(int node, NodeReport<?> report) {
        if (!isPending(node) || !hasDefault(node, report)) {
            return false;
        }
        NodeState state = report.state();
        if (runEnded != null && state == runEnded) {
            return true;
        }
        boolean skipped = state == NodeState.SKIPPED && report.cause() == null;
        if (skipped && (!wanted[node] || !triggered[node] && !isNeeded(node, true))) {
            return true;
        }
        if (isObsolete(node) && state == NodeState.CANCELLED) {
            return true;
        }
        if (isReady(node) && asked[node]) {
            Condition condition = spec(node).condition();
            if (skipped && condition == Condition.FALSE
                    || state == NodeState.FAILED
                            && condition == Condition.THROWS
                            && hasMessage(report.cause(), conditionFailure(node))) {
                return true;
            }
        }
        return clauses(node).stream().anyMatch(clause -> decides(clause, report));
    }

    private boolean decides(Clause clause, NodeReport<?> report) {
        return switch (clause.kind()) {
            case MUST, ORDER ->
                isWithoutSuccess(clause.upstreams().getFirst())
                        && isLike(clause.upstreams().getFirst(), report);
            case AFTER, OPTIONAL -> false;
            case CHOICE -> choiceDecides(clause, report);
        };
    }

    /*
     * The order is FAILED, TIMED_OUT, CANCELLED, SKIPPED, then the order of declaration, among the upstreams that had
     * ended when the choice became impossible. Upstreams that ended in this step may have ended later than that.
     */
    private boolean choiceDecides(Clause clause, NodeReport<?> report) {
        List<Integer> before = new ArrayList<>();
        List<Integer> now = new ArrayList<>();
        for (int up : clause.upstreams()) {
            if (isWithoutSuccess(up)) {
                (decidedIn[up] == step ? now : before).add(up);
            }
        }
        for (int some = 0; some < 1 << now.size(); some++) {
            List<Integer> without = new ArrayList<>(before);
            for (int i = 0; i < now.size(); i++) {
                if ((some & 1 << i) != 0) {
                    without.add(now.get(i));
                }
            }
            if (isImpossible(clause, without) && isLike(decider(clause, without), report)) {
                return true;
            }
        }
        return false;
    }

    private int decider(Clause clause, List<Integer> without) {
        for (NodeState state : List.of(NodeState.FAILED, NodeState.TIMED_OUT, NodeState.CANCELLED)) {
            for (int up : clause.upstreams()) {
                if (without.contains(up) && states[up] == state) {
                    return up;
                }
            }
        }
        return clause.upstreams().stream().filter(without::contains).findFirst().orElseThrow();
    }

    private boolean isLike(int upstream, NodeReport<?> report) {
        return states[upstream] == report.state() && reports[upstream].cause() == report.cause();
    }

    private boolean hasDefault(int node, NodeReport<?> report) {
        return switch (spec(node).defaultValue()) {
            case VALUE ->
                report.via() == ValueSource.DEFAULT && defaultValue(node).equals(report.value());
            case NULL -> report.via() == ValueSource.DEFAULT && report.value() == null;
            case NONE, THROWS -> report.via() == ValueSource.NONE && report.value() == null;
        };
    }

    /** Returns whether a running node may end with this report. */
    boolean allowsEnd(int node, NodeReport<?> report, boolean timedOut) {
        if (!isRunning(node)) {
            return false;
        }
        if (isObsolete(node) && report.state() == NodeState.CANCELLED) {
            return hasDefault(node, report);
        }
        if (runEnded != null || timedOut) {
            NodeState state = runEnded != null ? runEnded : NodeState.TIMED_OUT;
            return report.state() == state && hasDefault(node, report);
        }
        Spec spec = spec(node);
        if (!spec.actionFails()) {
            return report.state() == NodeState.SUCCESS
                    && report.via() == ValueSource.ACTION
                    && report.cause() == null
                    && Objects.equals(report.value(), value(node));
        }
        return switch (spec.fallback()) {
            case VALUE -> isFallback(report) && fallbackValue(node).equals(report.value());
            case NULL -> isFallback(report) && report.value() == null;
            case NONE ->
                report.state() == NodeState.FAILED
                        && hasDefault(node, report)
                        && hasMessage(report.cause(), failure(node, spec.attempts()));
            case THROWS ->
                report.state() == NodeState.FAILED
                        && hasDefault(node, report)
                        && (hasMessage(report.cause(), failure(node, spec.attempts()))
                                || hasMessage(report.cause(), fallbackFailure(node)));
        };
    }

    /** Returns whether a running or triggered node must be interrupted because it is unneeded. */
    boolean isObsolete(int node) {
        return flow.interruptObsolete() && (isRunning(node) || isReady(node)) && !isNeeded(node, true);
    }

    /** Returns whether the last step must have skipped a node. */
    boolean isOverdue(int node) {
        return isPending(node) && runEnded == null && wanted[node] && !isReady(node) && !isNeeded(node, false);
    }

    private static boolean isFallback(NodeReport<?> report) {
        return report.state() == NodeState.SUCCESS && report.via() == ValueSource.FALLBACK;
    }

    private static boolean hasMessage(Throwable cause, String message) {
        return cause != null && message.equals(cause.getMessage());
    }

    /** Returns the value of the action of a node: its name, and the values of its musts. */
    private Object value(int node) {
        if (spec(node).nullValue()) {
            return null;
        }
        return value(
                node,
                spec(node).clauses().stream()
                        .filter(clause -> clause.kind() == Kind.MUST)
                        .map(clause -> reports[clause.upstreams().getFirst()].value())
                        .toList()
                        .toArray());
    }

    static String value(int node, Object... upstreams) {
        return RandomFlow.id(node)
                + Arrays.stream(upstreams).map(String::valueOf).collect(Collectors.joining(",", "(", ")"));
    }

    static String defaultValue(int node) {
        return "default of " + RandomFlow.id(node);
    }

    static String fallbackValue(int node) {
        return "fallback of " + RandomFlow.id(node);
    }

    static String fallbackFailure(int node) {
        return "fallback failure of " + RandomFlow.id(node);
    }

    static String conditionFailure(int node) {
        return "condition failure of " + RandomFlow.id(node);
    }

    static String failure(int node, int attempt) {
        return "failure " + attempt + " of " + RandomFlow.id(node);
    }

    /** Records that the condition of a node is evaluated, which happens once and only when the node would begin. */
    void ask(int node) {
        asked[node] = true;
    }

    void begin(int node) {
        states[node] = NodeState.RUNNING;
    }

    /** Ends a running node, which is a new step. */
    void end(int node, NodeReport<?> report) {
        nextStep();
        settle(node, report);
    }

    /** Ends a node without running it, as a part of the last step. */
    void decide(int node, NodeReport<?> report) {
        early[node] = isPending(node) && wanted[node] && isSkippedEarly(node, report);
        settle(node, report);
    }

    private boolean isSkippedEarly(int node, NodeReport<?> report) {
        return report.state() == NodeState.SKIPPED
                && isNeeded(node, false)
                && !isReady(node)
                && clauses(node).stream().noneMatch(clause -> decides(clause, report));
    }

    private void settle(int node, NodeReport<?> report) {
        states[node] = report.state();
        reports[node] = report;
        decidedIn[node] = step;
        if (report.state() == NodeState.SUCCESS) {
            succeeded.add(node);
        }
        if (flow.failFast() && runEnded == null && isFailure(report.state())) {
            failed = true;
            failedIn = step;
            runEnded = NodeState.CANCELLED;
        }
    }

    void cancel() {
        nextStep();
        cancelled = true;
        runEnded = NodeState.CANCELLED;
    }

    void timeOut() {
        nextStep();
        runEnded = NodeState.TIMED_OUT;
    }

    private void nextStep() {
        step++;
        markTriggered();
        Arrays.fill(early, false);
    }

    private static boolean isFailure(NodeState state) {
        return state == NodeState.FAILED || state == NodeState.TIMED_OUT;
    }

    FlowStatus status() {
        if (runEnded == NodeState.TIMED_OUT) {
            return FlowStatus.TIMED_OUT;
        }
        if (cancelled) {
            return FlowStatus.CANCELLED;
        }
        boolean degraded = false;
        boolean sinkFailed = failed;
        for (int node = 0; node < flow.size(); node++) {
            degraded |= isFailure(states[node]);
            sinkFailed |= isFailure(states[node]) && (consumers.get(node).isEmpty() || flow.isTarget(node));
        }
        return sinkFailed ? FlowStatus.FAILED : degraded ? FlowStatus.DEGRADED : FlowStatus.SUCCESS;
    }

    /** Returns the nodes to be undone, in order. */
    List<Integer> undone() {
        FlowStatus status = status();
        if (status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            return List.of();
        }
        return succeeded.reversed().stream().filter(node -> spec(node).undo()).toList();
    }
}
