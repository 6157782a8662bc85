package dev.raddle.checks.flow;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The options of the command line.
 *
 * @param file the file of cases
 * @param repeat the number of repetitions of each case; 0 for 50 repetitions or three seconds, whichever ends first
 * @param executor default, fixedN, or null for the executor of each case
 * @param only the id of the only case to run, or null
 * @param patienceSeconds the time after which a run counts as hung, if its threads are at rest
 * @param times the factor by which all timeouts and limits of the cases are multiplied, for a busy machine
 */
record Options(Path file, int repeat, String executor, String only, int patienceSeconds, int times) {

    /** The system property for the number of repetitions; an option of the command line takes precedence. */
    static final String REPEAT_PROPERTY = "raddle.flow.repeat";

    static final String USAGE = "usage: flow-cases FILE.json [--repeat N] [--executor fixed1|fixed2|default]"
            + " [--only ID] [--patience SECONDS] [--times FACTOR]";

    private static final int USUAL = 50;
    private static final int AT_LEAST = 5;
    private static final long USUAL_NANOS = TimeUnit.SECONDS.toNanos(3);

    static Options parse(String... arguments) {
        Path file = null;
        int repeat = Integer.getInteger(REPEAT_PROPERTY, 0);
        String executor = null;
        String only = null;
        int patience = 10;
        int times = 1;
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
                case "--times" -> times = count(name, value);
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
        return new Options(file, repeat, executor, only, patience, times);
    }

    private static int count(String name, String value) {
        if (!value.matches("[1-9]\\d{0,6}")) {
            throw new IllegalArgumentException(name + " must be at least 1, was \"" + value + "\"");
        }
        return Integer.parseInt(value);
    }

    boolean needsMore(FlowCase flowCase, int played, long nanos) {
        int wanted = Math.max(flowCase.repeat(), repeat == 0 ? AT_LEAST : repeat);
        return played < wanted || (repeat == 0 && played < USUAL && nanos < USUAL_NANOS);
    }

    /**
     * Returns the number of threads for a case; 0 for the engine's own scheduler. A pool that replaces the executor of
     * a case is enlarged by the threads that the actions of the case hold while they wait at gates: without them the
     * case would wait for ever, whatever the engine does.
     */
    int threads(FlowCase flowCase) {
        boolean readsThreadNames = flowCase.nodes().stream()
                .flatMap(node -> node.steps().stream())
                .anyMatch(step -> step.word().equals("threadName"));
        int own = flowCase.run().threads();
        if (executor == null || readsThreadNames) {
            return own;
        }
        int forced = RunSettings.threads(executor);
        if (forced == 0) {
            return flowCase.heldThreads() > 0 ? own : 0; // the case may test the number of threads
        }
        return own > 0 ? own : forced + flowCase.heldThreads();
    }
}
