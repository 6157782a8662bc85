package dev.raddle.checks.flow;

import dev.raddle.checks.flow.CaseNode.Join;
import dev.raddle.checks.flow.Expectation.Order;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.ValueSource;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks a finished run against the expectations of its case and against the rules that hold for every run. Runs 100
 * ms after the run has returned, so that later events are checked, too.
 */
final class Judge {

    private final FlowCase flowCase;
    private final CaseRun run;
    private final RunProbe probe;
    private final List<String> complaints = new ArrayList<>();

    private Judge(FlowCase flowCase, CaseRun run) {
        this.flowCase = flowCase;
        this.run = run;
        this.probe = run.probe;
    }

    static List<String> judge(Repetition repetition) {
        List<String> complaints = new ArrayList<>(repetition.monitor.complaints());
        for (CaseRun run : repetition.runs) {
            Judge judge = new Judge(repetition.flowCase, run);
            // Holds the monitor while it checks one run; late events are recorded between two runs.
            repetition.monitor.record(number -> judge.run());
            complaints.addAll(judge.complaints);
        }
        return complaints;
    }

    private void run() {
        if (run.thrown() != null) {
            complain("run() threw " + run.thrown());
        }
        if (!run.hasResult()) {
            return;
        }
        expect("status", flowCase.expect().status(), run.status());
        if (flowCase.limitMs() > 0 && run.tookMillis() > flowCase.limitMs()) {
            complain("run() must return within " + flowCase.limitMs() + " ms, took " + run.tookMillis() + " ms");
        }
        for (NodeProbe node : probe.nodes()) {
            judge(node);
        }
        for (String id : flowCase.expect().notRun()) {
            expect("runs of \"" + id + "\"", 0, probe.node(id).entered);
        }
        flowCase.expect().order().forEach(this::judge);
        for (List<String> group : flowCase.expect().sameThread()) {
            sameThread(group);
        }
        if (flowCase.expect().runsTotal() != null) {
            int total = probe.probes().stream().mapToInt(node -> node.entered).sum();
            expect("the sum of all runs", flowCase.expect().runsTotal(), total);
        }
        sink();
        order();
        skips();
    }

    /** Checks that the exception sink has received every exception that a callback threw. */
    private void sink() {
        long thrown = 0;
        for (NodeProbe node : probe.nodes()) {
            thrown += node.node.onBegin().isEmpty() ? 0 : node.begun;
            thrown += node.node.onResult().isEmpty() ? 0 : node.reported;
        }
        if (run.sinkCount() < thrown) {
            complain("callbacks threw " + thrown + " exceptions, and the sink received " + run.sinkCount());
        }
    }

    private void complain(String complaint) {
        complaints.add(complaint
                + (flowCase.parameters().size() > 1 ? " (in the run with parameter " + probe.parameter + ")" : ""));
    }

    private void expect(String what, Object expected, Object found) {
        boolean oneOf = expected instanceof List<?> && !(found instanceof List<?>);
        if (expected != null
                && !(oneOf
                        ? ((List<?>) expected).stream().anyMatch(each -> same(each, found))
                        : same(expected, found))) {
            complain(what + " was expected to be " + JsonObject.show(expected) + ", was " + JsonObject.show(found));
        }
    }

    private void judge(NodeProbe node) {
        String id = node.node.id();
        String what = "node \"" + id + "\": ";
        NodeReport<?> report = run.report(id);
        callbacks(what, node, report);
        shape(what, node, report);

        Map<String, Object> expected = flowCase.expect().of(id);
        expect(what + "state", expected.get("state"), CasePlan.word(report.state()));
        expect(what + "via", expected.get("via"), CasePlan.word(report.via()));
        expect(what + "runs", expected.get("runs"), node.entered);
        expect(what + "interrupted", expected.get("interrupted"), node.interrupted);
        if (expected.containsKey("value")) {
            Object value = withParameter(expected.get("value"));
            if (!same(value, report.value()) && !isThreadName(node.node, value, report.value())) {
                complain(what + "value was expected to be " + JsonObject.show(value) + ", was "
                        + JsonObject.show(report.value()));
            }
        }
        if (expected.get("error") != null) {
            error(what, String.valueOf(withParameter(expected.get("error"))), report.cause());
        }
    }

    private void callbacks(String what, NodeProbe node, NodeReport<?> report) {
        if (node.reported != 1) {
            complain(what + "its result callback must be called once, was called " + node.reported + " times");
        }
        int begins = node.entered > 0 ? 1 : 0;
        if (node.begun != begins) {
            complain(what + "its begin callback must be called " + begins + " times, was called " + node.begun
                    + " times");
        }
        if (node.begun > 0 && node.entered > 0 && node.begunAt > node.enteredAt) {
            complain(what + "its begin callback must be called before its action is entered, was called later");
        }
        if (node.entered > 1 + node.node.retries()) {
            complain(what + "its action must be entered at most " + (1 + node.node.retries()) + " times, was entered "
                    + node.entered + " times");
        }
        // The first attempt follows the begin callback; a thread that is about to enter the action cannot be
        // distinguished from one inside it.
        long attempt = node.entered > 1 ? node.lastEnteredAt : 0;
        if (Math.max(node.reportedAt, Math.max(node.begunAt, attempt)) > probe.returnedAt()) {
            complain(what + "nothing may be called after run() has returned, and "
                    + (node.reportedAt > probe.returnedAt() ? "its result callback" : "its action or begin callback")
                    + " was");
        }
        if (node.reported > 0 && node.begunAt > node.reportedAt) {
            complain(what + "its begin callback was called after its result callback");
        }
        if (node.report != null && !isSame(node.report, report)) {
            complain(what + "the result of the run must equal what the result callback received, " + node.report
                    + ", was " + report);
        }
        Function<String, NodeState> states = run.states();
        if (states != null && states.apply(node.node.id()) != report.state()) {
            complain(what + "its state must never change again: it was " + report.state() + " in the result and is "
                    + states.apply(node.node.id()));
        }
    }

    private static boolean isSame(NodeReport<?> one, NodeReport<?> other) {
        return one.state() == other.state()
                && one.via() == other.via()
                && one.value() == other.value()
                && one.cause() == other.cause();
    }

    /** Checks that the parts of a report are consistent. */
    private void shape(String what, NodeProbe node, NodeReport<?> report) {
        NodeState state = report.state();
        if (!CasePlan.isTerminal(state)) {
            complain(what + "a node of a finished run must have ended, was " + state);
        }
        boolean success = state == NodeState.SUCCESS;
        if (success != (report.via() == ValueSource.ACTION || report.via() == ValueSource.FALLBACK)) {
            complain(what + "the value of a node that is " + state + " cannot come from " + report.via());
        }
        if (report.via() == ValueSource.NONE && report.value() != null) {
            complain(what + "a node without a value has the value " + report.value());
        }
        if ((success && report.cause() != null) || (state == NodeState.FAILED && report.cause() == null)) {
            complain(what + "a node that is " + state + " has the cause " + report.cause());
        }
        boolean ranObsolete = node.entered > 0 && flowCase.run().interruptObsolete();
        if ((success && node.entered == 0) || (state == NodeState.SKIPPED && node.entered > 0 && !ranObsolete)) {
            complain(what + "a node that is " + state + " has entered its action " + node.entered + " times");
        }
        boolean itsOwnInterrupt = state == NodeState.TIMED_OUT
                || state == NodeState.CANCELLED
                || flowCase.run().interruptObsolete();
        if (node.interruptedBefore && !itsOwnInterrupt) {
            complain(what + "it began with the interrupt of another task");
        }
    }

    private void error(String what, String expected, Throwable cause) {
        String message = cause == null ? null : cause.getMessage();
        boolean found =
                cause != null && (String.valueOf(message).contains(expected) || isAboutSameRead(expected, cause));
        if (!found) {
            complain(what + "error was expected to be \"" + expected + "\", was "
                    + (cause == null
                            ? "none"
                            : JsonObject.show(message) + " of "
                                    + cause.getClass().getName()));
        }
    }

    /** The engine may word the message of a forbidden read freely, but it has to name the node that was read. */
    private boolean isAboutSameRead(String expected, Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        return cause instanceof IllegalArgumentException
                && flowCase.nodes().stream()
                        .flatMap(node -> node.steps().stream())
                        .filter(step -> Set.of("concat", "sum", "peek", "state").contains(step.word()))
                        .flatMap(step -> step.ids().stream())
                        .anyMatch(id -> MessageWords.contains(expected, id) && MessageWords.contains(message, id));
    }

    private void judge(Order order) {
        NodeProbe first = probe.node(order.first());
        NodeProbe second = probe.node(order.second());
        long then = order.end() ? second.endedAt : second.enteredAt;
        String what = "\"" + order.first() + "\" must end before \"" + order.second() + "\" "
                + (order.end() ? "ends" : "begins");
        if (first.endedAt == 0 || then == 0) {
            complain(what + ", and " + (first.endedAt == 0 ? "the first never ended" : "the second never did"));
        } else if (first.endedAt > then) {
            complain(what + ", and did not");
        }
    }

    private void sameThread(List<String> ids) {
        Set<Thread> threads = ids.stream()
                .map(id -> probe.node(id).thread)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        if (threads.size() > 1) {
            complain(ids + " must run on one thread, ran on " + threads);
        }
    }

    /**
     * Checks that no node begins before its upstreams are reported, and that none runs without a success that it
     * requires.
     */
    private void order() {
        for (CaseEdge edge : flowCase.edges()) {
            NodeProbe from = probe.node(edge.from());
            NodeProbe to = probe.node(edge.to());
            boolean must = !edge.kind().equals("optional")
                    && (edge.kind().equals("after") || to.node.join().atLeast() == Join.ALL);
            if (!must || to.begun == 0) {
                continue;
            }
            if (from.reportedAt == 0 || from.reportedAt > to.begunAt) {
                complain("node \"" + edge.to() + "\" began before the result callback of \"" + edge.from() + "\"");
            }
            if (!edge.kind().equals("after") && run.report(edge.from()).state() != NodeState.SUCCESS) {
                complain("node \"" + edge.to() + "\" ran although \"" + edge.from() + "\", which it requires, is "
                        + run.report(edge.from()).state());
            }
        }
    }

    /*
     * A node that becomes unneeded when another node v settles is SKIPPED before the callback of v is called. A node x
     * that is SKIPPED in the end was certainly unneeded when the callback of v was called, if each of its consumers is
     * v, or had had its own callback before, or was itself unneeded in this sense. The callback of v must then have
     * seen x as SKIPPED.
     */
    private void skips() {
        Map<String, List<String>> consumers = new HashMap<>();
        flowCase.edges()
                .forEach(edge -> consumers
                        .computeIfAbsent(edge.from(), from -> new ArrayList<>())
                        .add(edge.to()));
        Set<String> skipped = new HashSet<>();
        for (NodeProbe node : probe.nodes()) {
            boolean exempt = node.node.essential()
                    || node.node.condition() != null // which may have skipped it later
                    || flowCase.outputs().contains(node.node.id());
            if (!exempt && run.report(node.node.id()).state() == NodeState.SKIPPED) {
                skipped.add(node.node.id());
            }
        }
        if (skipped.isEmpty()) {
            return;
        }
        for (NodeProbe settled : probe.nodes()) {
            if (settled.skippedBefore == null) {
                continue;
            }
            Map<String, Boolean> known = new HashMap<>();
            for (String x : probe.upstreams(settled.node.id())) {
                if (isUnneeded(x, settled, consumers, skipped, known) && !settled.skippedBefore.contains(x)) {
                    complain("\"" + x + "\" must be SKIPPED before the callback of \"" + settled.node.id()
                            + "\", and was not yet");
                }
            }
        }
    }

    private boolean isUnneeded(
            String x,
            NodeProbe settled,
            Map<String, List<String>> consumers,
            Set<String> skipped,
            Map<String, Boolean> known) {
        Boolean before = known.get(x);
        if (before != null) {
            return before;
        }
        List<String> of = consumers.getOrDefault(x, List.of());
        boolean unneeded = skipped.contains(x) && !of.isEmpty();
        for (String consumer : of) {
            long at = probe.node(consumer).firstCallbackAt();
            boolean reported = consumer.equals(settled.node.id()) || (at != 0 && at < settled.firstCallbackAt());
            unneeded = unneeded && (reported || isUnneeded(consumer, settled, consumers, skipped, known));
        }
        known.put(x, unneeded);
        return unneeded;
    }

    private Object withParameter(Object value) {
        return switch (value) {
            case String text when text.equals("$param") -> probe.parameter;
            case String text -> text.replace("$param", String.valueOf(probe.parameter));
            case List<?> list ->
                list.stream().map(this::withParameter).collect(Collectors.toCollection(ArrayList::new));
            case null -> null;
            default -> value;
        };
    }

    /** Returns whether a thread name matches an expected name, which may be a pattern: {@code iso-*}. */
    private static boolean isThreadName(CaseNode node, Object expected, Object found) {
        boolean asks = !node.steps().isEmpty() && node.steps().getLast().word().equals("threadName");
        if (!asks || !(expected instanceof String pattern) || !(found instanceof String name)) {
            return false;
        }
        boolean many = pattern.endsWith("*") || pattern.endsWith("-");
        return many && name.startsWith(pattern.substring(0, pattern.length() - 1));
    }

    /** Returns whether two values are equal; numbers are compared by value, whatever their types. */
    private static boolean same(Object expected, Object found) {
        if (expected instanceof Number one && found instanceof Number other) {
            return new BigDecimal(one.toString()).compareTo(new BigDecimal(other.toString())) == 0;
        }
        if (expected instanceof List<?> one && found instanceof Collection<?> several) {
            List<?> other = List.copyOf(several);
            boolean same = one.size() == other.size();
            for (int i = 0; same && i < one.size(); i++) {
                same = same(one.get(i), other.get(i));
            }
            return same;
        }
        return Objects.equals(expected, found);
    }
}
