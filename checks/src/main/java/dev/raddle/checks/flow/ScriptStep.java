package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A condition that the driver waits for, and its next action.
 *
 * @param condition started, terminal, ended, runReturned, or - for none
 * @param node the node's id; empty for a condition without a node
 * @param parameter the run's parameter; null for all runs
 * @param then the gate to open, - for none, or !cancel
 */
record ScriptStep(String condition, String node, String parameter, String then) {

    private static final Set<String> CONDITIONS = Set.of("started", "terminal", "ended", "runReturned", "-");

    static final String NOTHING = "-";
    static final String CANCEL = "!cancel";

    static List<ScriptStep> parseAll(List<Object> values) {
        List<ScriptStep> steps = new ArrayList<>();
        for (Object value : values) {
            List<Object> parts = JsonObject.list("a step of the script", value);
            if (parts.size() != 2) {
                throw new CaseFormatException("a step of the script must be [condition, gate], was " + parts);
            }
            steps.add(parse(JsonObject.text("a condition", parts.get(0)), JsonObject.text("a gate", parts.get(1))));
        }
        return steps;
    }

    private static ScriptStep parse(String condition, String then) {
        List<String> words = List.of(condition.split(":", -1));
        String word = words.getFirst();
        if (!CONDITIONS.contains(word)) {
            throw new CaseFormatException("the script has the unknown condition \"" + condition
                    + "\"; known are started:x, terminal:x, ended:x, runReturned[:parameter], -");
        }
        if (then.startsWith("!") && !then.equals(CANCEL)) {
            throw new CaseFormatException("the script has the unknown action \"" + then + "\"; known is !cancel");
        }
        boolean ofNode = !word.equals("runReturned") && !word.equals(NOTHING);
        if (ofNode && words.size() < 2) {
            throw new CaseFormatException("the condition \"" + condition + "\" names no node");
        }
        String node = ofNode ? words.get(1) : "";
        int rest = ofNode ? 2 : 1;
        String parameter = words.size() > rest ? String.join(":", words.subList(rest, words.size())) : null;
        return new ScriptStep(word, node, parameter, then);
    }

    @Override
    public String toString() {
        return condition + (node.isEmpty() ? "" : ":" + node) + (parameter == null ? "" : ":" + parameter);
    }
}
