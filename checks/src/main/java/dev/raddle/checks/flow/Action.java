package dev.raddle.checks.flow;

import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The action of a node: performs its steps in order. The value of the last step that has one is the result. */
final class Action {

    private final CaseNode node;

    Action(CaseNode node) {
        this.node = node;
    }

    Object call(NodeContext<RunProbe> context) throws Exception {
        RunProbe run = context.param();
        int attempt = run.enter(node.id());
        try {
            CasePlan.checkContext(run, "the action of \"" + node.id() + "\"");
            Object value = null;
            for (Step step : node.steps()) {
                value = perform(step, run, context, attempt, value);
            }
            return value;
        } catch (InterruptedException interrupt) {
            run.interrupted(node.id());
            throw interrupt;
        } finally {
            run.leave(node.id());
        }
    }

    private Object perform(Step step, RunProbe run, NodeContext<RunProbe> context, int attempt, Object value)
            throws InterruptedException {
        switch (step.word()) {
            case "return" -> {
                return step.arguments().getFirst();
            }
            case "fail" -> throw new RuntimeException(step.text(0));
            case "error" -> throw new AssertionError(step.text(0));
            case "failTimes" -> {
                if (attempt <= step.count(0)) {
                    throw new RuntimeException(step.text(1));
                }
            }
            case "await" -> run.monitor.gate(step.text(0)).await();
            case "awaitU" -> run.monitor.awaitUninterruptibly(step.text(0), () -> run.interrupted(node.id()));
            case "awaitIfParam" -> {
                if (Objects.equals(String.valueOf(step.arguments().getFirst()), String.valueOf(run.parameter))) {
                    run.monitor.gate(step.text(1)).await();
                }
            }
            case "open" -> run.monitor.gate(step.text(0)).countDown();
            case "barrier" -> run.barrier(step.text(0), step.count(1));
            case "concat" -> {
                return concat(step.ids(), step.text(1), context);
            }
            case "sum" -> {
                return sum(step.ids(), context);
            }
            case "peek" -> {
                List<String> seen = new ArrayList<>();
                step.ids().forEach(id -> seen.add(peek(id, run, context)));
                return String.join(",", seen);
            }
            case "state" -> {
                return String.join(
                        ",",
                        step.ids().stream()
                                .map(id -> CasePlan.word(context.state(id)))
                                .toList());
            }
            case "param" -> {
                return run.parameter;
            }
            case "context" -> {
                return CasePlan.callersContext();
            }
            case "threadName" -> {
                return Thread.currentThread().getName();
            }
            default ->
                throw new AssertionError("a step that Step declares and Action does not implement: " + step.word());
        }
        return value;
    }

    private static String concat(List<String> ids, String end, NodeContext<RunProbe> context) {
        List<String> values = new ArrayList<>();
        ids.forEach(id -> values.add(String.valueOf(context.read(id))));
        return String.join("+", values) + ">" + end;
    }

    private static long sum(List<String> ids, NodeContext<RunProbe> context) {
        long sum = 0;
        for (String id : ids) {
            sum += ((Number) context.read(id)).longValue();
        }
        return sum;
    }

    /** Returns the value of a finished node as text, also a default or null; {@code -} if there is none. */
    private static String peek(String id, RunProbe run, NodeContext<RunProbe> context) {
        NodeState state = context.state(id);
        boolean present = context.peek(id).isPresent();
        if (!CasePlan.isTerminal(state)) {
            // The node may have ended since its state was read; before it ended it had no value.
            return present ? String.valueOf(context.peek(id).get()) : "-";
        }
        try {
            Object value = context.read(id);
            if (present != (value != null)) {
                run.monitor.complain("read(\"" + id + "\") returned " + value + " and peek() "
                        + (present ? "something" : "nothing"));
            }
            return String.valueOf(value);
        } catch (IllegalStateException noValue) {
            if (present) {
                run.monitor.complain("peek(\"" + id + "\") returned a value and read() none");
            }
            return "-";
        }
    }
}
