package dev.raddle.checks.flow;

import dev.raddle.checks.flow.CaseNode.Join;
import dev.raddle.checks.flow.Expectation.Order;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.Via;
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
 * Says what was wrong with a run: what the case expects, and what holds for every run. To be asked 100 ms after the run has
 * returned, so that what happened later counts, too.
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
        List<String> complaints = new ArrayList<>(repetition.stage.complaints());
        for (CaseRun run : repetition.runs) {
            Judge judge = new Judge(repetition.flowCase, run);
            // What happens even now is let in between two runs, not in the middle of one.
            repetition.stage.happened(number -> judge.run());
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

    /** What a callback throws changes nothing, and is not lost. */
    private void sink() {
        long thrown = 0;
        for (NodeProbe node : probe.nodes()) {
            thrown += node.node.onBegin().isEmpty() ? 0 : node.begun;
            thrown += node.node.onResult().isEmpty() ? 0 : node.reported;
        }
        if (run.putAside() < thrown) {
            complain("callbacks threw " + thrown + " exceptions, and the sink was told of " + run.putAside());
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
            complain(what + " was expected to be " + Keyed.show(expected) + ", was " + Keyed.show(found));
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
                complain(
                        what + "value was expected to be " + Keyed.show(value) + ", was " + Keyed.show(report.value()));
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
        // The first attempt follows the begin callback; nobody can tell a thread that is about to enter it from one
        // inside.
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
            complain(what + "the result of the run must be what the result callback heard, " + node.report + ", was "
                    + report);
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

    /** What no report may look like. */
    private void shape(String what, NodeProbe node, NodeReport<?> report) {
        NodeState state = report.state();
        if (!CasePlan.isTerminal(state)) {
            complain(what + "a node of a finished run must have ended, was " + state);
        }
        boolean success = state == NodeState.SUCCESS;
        if (success != (report.via() == Via.ACTION || report.via() == Via.FALLBACK)) {
            complain(what + "the value of a node that is " + state + " cannot come from " + report.via());
        }
        if (report.via() == Via.NONE && report.value() != null) {
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
            complain(what + "it began with an interrupt that was not meant for it");
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
                            : Keyed.show(message) + " of " + cause.getClass().getName()));
        }
    }

    /** How the engine words a forbidden read is its own affair, but the message has to name what was to be read. */
    private boolean isAboutSameRead(String expected, Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        return cause instanceof IllegalArgumentException
                && flowCase.nodes().stream()
                        .flatMap(node -> node.steps().stream())
                        .filter(step -> Set.of("concat", "sum", "peek", "state").contains(step.word()))
                        .flatMap(step -> step.ids().stream())
                        .anyMatch(id -> Words.holds(expected, id) && Words.holds(message, id));
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

    /** Nobody begins before what it must wait for has been told of, and nobody succeeds without the success it needs. */
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
                complain("node \"" + edge.to() + "\" ran although \"" + edge.from() + "\", which it must have, is "
                        + run.report(edge.from()).state());
            }
        }
    }

    /*
     * What a decision makes unneeded is SKIPPED before anybody hears of the decision. Of a node x that was skipped in the
     * end it is certain that it was unneeded by the time that v was heard of, if each of its consumers is v, had been
     * heard of by then, or was itself a node of that kind. Then the callback of v must have seen x as SKIPPED.
     */
    private void skips() {
        Map<String, List<String>> consumers = new HashMap<>();
        flowCase.edges()
                .forEach(edge -> consumers
                        .computeIfAbsent(edge.from(), from -> new ArrayList<>())
                        .add(edge.to()));
        Set<String> skipped = new HashSet<>();
        for (NodeProbe node : probe.nodes()) {
            boolean kept = node.node.essential()
                    || node.node.condition() != null // which may have been what skipped it, later
                    || flowCase.outputs().contains(node.node.id());
            if (!kept && run.report(node.node.id()).state() == NodeState.SKIPPED) {
                skipped.add(node.node.id());
            }
        }
        if (skipped.isEmpty()) {
            return;
        }
        for (NodeProbe decided : probe.nodes()) {
            if (decided.skippedBefore == null) {
                continue;
            }
            Map<String, Boolean> known = new HashMap<>();
            for (String x : probe.upstreams(decided.node.id())) {
                if (isUnneeded(x, decided, consumers, skipped, known) && !decided.skippedBefore.contains(x)) {
                    complain("\"" + x + "\" must be SKIPPED before the callback that tells of \"" + decided.node.id()
                            + "\", and was not yet");
                }
            }
        }
    }

    private boolean isUnneeded(
            String x,
            NodeProbe decided,
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
            long at = probe.node(consumer).decidedAt();
            boolean heardOf = consumer.equals(decided.node.id()) || (at != 0 && at < decided.decidedAt());
            unneeded = unneeded && (heardOf || isUnneeded(consumer, decided, consumers, skipped, known));
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

    /** An expected thread name may stand for many: {@code iso-*}. */
    private static boolean isThreadName(CaseNode node, Object expected, Object found) {
        boolean asks = !node.steps().isEmpty() && node.steps().getLast().word().equals("threadName");
        if (!asks || !(expected instanceof String pattern) || !(found instanceof String name)) {
            return false;
        }
        boolean many = pattern.endsWith("*") || pattern.endsWith("-");
        return many && name.startsWith(pattern.substring(0, pattern.length() - 1));
    }

    /** Numbers are the same if their values are, whatever their types. */
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
