package dev.raddle.checks.flow;

import java.util.List;

/**
 * The settings of the runs of a case.
 *
 * @param timeoutMs the timeout of a run; 0 for none, negative for a deadline that has passed already
 * @param threads the size of a fixed pool; 0 for the engine's own scheduler
 * @param interruptObsolete whether a running node that has become unneeded is interrupted
 * @param failFast whether the first failure ends the run
 * @param only the targets; empty for all
 * @param parameter the parameter of the only run, if the case has no list of parameters
 * @param context the value of the caller's context, or null
 */
record RunSettings(
        long timeoutMs,
        int threads,
        boolean interruptObsolete,
        boolean failFast,
        List<String> only,
        Object parameter,
        String context) {

    static RunSettings parse(Object value) {
        JsonObject map = JsonObject.of("run", value);
        long timeoutMs = map.has("timeoutMs") ? map.number("timeoutMs", 0) : 0;
        if (map.has("timeoutMs") && timeoutMs == 0) {
            timeoutMs = -1;
        }
        String only = map.spelling("only", "targets");
        String obsolete = map.spelling("runningObsolete", "obsolete");
        RunSettings settings = new RunSettings(
                timeoutMs,
                threads(map.text("executor", "default")),
                obsolete != null && oneOf("run." + obsolete, map.text(obsolete, "finish"), "finish", "interrupt"),
                oneOf("run.onFailure", map.text("onFailure", "continue"), "continue", "failFast"),
                only == null ? List.of() : map.get(only) instanceof String one ? List.of(one) : map.texts(only),
                map.get("param"),
                map.text("context", null));
        map.checkNoUnknownKeys();
        return settings;
    }

    private static boolean oneOf(String where, String value, String no, String yes) {
        if (value.equals(yes) || value.equals(no)) {
            return value.equals(yes);
        }
        throw new CaseFormatException(where + " must be " + no + " or " + yes + ", was \"" + value + "\"");
    }

    /** Reads "default", which is 0, or the N of "fixedN". */
    static int threads(String executor) {
        if (executor.equals("default")) {
            return 0;
        }
        if (executor.matches("fixed[1-9]\\d{0,3}")) {
            return Integer.parseInt(executor.substring("fixed".length()));
        }
        throw new CaseFormatException("an executor must be default or fixedN, was \"" + executor + "\"");
    }
}
