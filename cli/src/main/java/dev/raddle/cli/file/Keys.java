package dev.raddle.cli.file;

import java.util.List;

/** The keys of a run file, by the map that contains them. The published schema has the same. */
final class Keys {
    static final List<String> FILE = List.of(
            "name",
            "params",
            "defaults",
            "groups",
            "globalMaxInFlight",
            "globalQueue",
            "globalRate",
            "globalBurst",
            "outputs",
            "tasks");
    static final List<String> GROUP = List.of("limit", "queue", "weight", "maxInFlight", "rate", "burst", "threads");
    static final List<String> DEFAULTS = List.of(
            "limit", "queue", "weight", "maxInFlight", "rate", "burst", "threads", "timeout", "retry", "env", "dir");
    static final List<String> TASK = List.of(
            "id",
            "desc",
            "group",
            "run",
            "forEach",
            "env",
            "dir",
            "timeout",
            "retry",
            "priority",
            "cost",
            "needs",
            "when",
            "default",
            "fallback",
            "undo",
            "essential");
    static final List<String> NEED = List.of("any", "atLeast", "of", "optional", "after");
    static final List<String> FALLBACK = List.of("value");
    static final List<String> RETRY = List.of("attempts", "backoff");

    private Keys() {}
}
