package dev.raddle.flow;

import java.util.List;

/** Thrown when a plan cannot be built. The message names all problems. */
public final class InvalidFlowException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // List.copyOf is serializable
    private final List<String> problems;

    InvalidFlowException(String flow, List<String> problems) {
        super("flow \"" + flow + "\" is not valid: " + String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    /**
     * Returns the problems of the definition.
     *
     * @return one sentence for each problem
     */
    public List<String> problems() {
        return problems;
    }
}
