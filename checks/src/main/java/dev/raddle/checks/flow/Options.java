package dev.raddle.checks.flow;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * What the command line says.
 *
 * @param file of cases
 * @param repeat how often to play each case; 0 for 50 times or three seconds, whichever is over first
 * @param executor default, fixedN, or null to leave that to the cases
 * @param only the one case to play, or null
 * @param patienceSeconds how long a run may hang
 */
record Options(Path file, int repeat, String executor, String only, int patienceSeconds) {

    /** How often to play each case, where the command line does not say it. */
    static final String REPEAT_PROPERTY = "raddle.flow.repeat";

    static final String USAGE =
            "usage: flow-cases FILE.json [--repeat N] [--executor fixed1|fixed2|default] [--only ID] [--patience SECONDS]";

    private static final int USUAL = 50;
    private static final int AT_LEAST = 5;
    private static final long USUAL_NANOS = TimeUnit.SECONDS.toNanos(3);

    static Options parse(String... arguments) {
        Path file = null;
        int repeat = Integer.getInteger(REPEAT_PROPERTY, 0);
        String executor = null;
        String only = null;
        int patience = 10;
        for (int i = 0; i < arguments.length; i++) {
            String argument = arguments[i];
            if (!argument.startsWith("--")) {
                if (file != null) {
                    throw new IllegalArgumentException("one file at a time, was given " + file + " and " + argument);
                }
                file = Path.of(argument);
                continue;
            }
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            if (equals < 0 && ++i == arguments.length) {
                throw new IllegalArgumentException(name + " needs a value");
            }
            String value = equals < 0 ? arguments[i] : argument.substring(equals + 1);
            switch (name) {
                case "--repeat" -> repeat = count(name, value);
                case "--patience" -> patience = count(name, value);
                case "--executor" -> {
                    RunSettings.threads(value);
                    executor = value;
                }
                case "--only" -> only = value;
                default -> throw new IllegalArgumentException("unknown option \"" + name + "\"");
            }
        }
        if (file == null) {
            throw new IllegalArgumentException("no file given");
        }
        return new Options(file, repeat, executor, only, patience);
    }

    private static int count(String name, String value) {
        if (!value.matches("[1-9]\\d{0,6}")) {
            throw new IllegalArgumentException(name + " must be at least 1, was \"" + value + "\"");
        }
        return Integer.parseInt(value);
    }

    boolean goesOn(FlowCase flowCase, int played, long nanos) {
        int wanted = Math.max(flowCase.repeat(), repeat == 0 ? AT_LEAST : repeat);
        return played < wanted || (repeat == 0 && played < USUAL && nanos < USUAL_NANOS);
    }

    /**
     * Returns how many threads a case gets; 0 for the engine's own scheduler. A pool that is forced upon a case is widened
     * by the threads that the actions of the case keep while they wait at gates: without them the case would wait for ever,
     * whatever the engine does.
     */
    int threads(FlowCase flowCase) {
        boolean asksForNames = flowCase.nodes().stream()
                .flatMap(node -> node.steps().stream())
                .anyMatch(step -> step.word().equals("threadName"));
        int own = flowCase.run().threads();
        if (executor == null || asksForNames) {
            return own;
        }
        int forced = RunSettings.threads(executor);
        if (forced == 0) {
            return flowCase.heldThreads() > 0 ? own : 0; // how many threads there are may be what the case is about
        }
        return own > 0 ? own : forced + flowCase.heldThreads();
    }
}
