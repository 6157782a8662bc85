package dev.raddle.cli.file;

import java.util.List;
import java.util.Map;

/** The keys of a run file, by the map that contains them. The published schema has the same. */
final class Keys {
    static final List<String> FILE = List.of(
            "name",
            "params",
            "defaults",
            "groups",
            "jobs",
            "total",
            "timeout",
            "results",
            "tasks");
    static final List<String> TOTAL = List.of("queue", "rate", "burst");
    static final List<String> GROUP = List.of("limit", "queue", "weight", "rate", "burst");
    static final List<String> DEFAULTS =
            List.of("limit", "queue", "weight", "rate", "burst", "timeout", "retry", "env", "dir");
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
            "fallback",
            "undo",
            "essential");
    static final List<String> NEED = List.of("any", "atLeast", "of", "optional", "after");
    static final List<String> FALLBACK = List.of("value");
    static final List<String> RETRY = List.of("attempts", "backoff");

    /** What to write in place of a key that is no longer one. */
    static final Map<String, String> INSTEAD = Map.of(
            "globalMaxInFlight", "write jobs",
            "globalQueue", "write total: { queue: … }",
            "globalRate", "write total: { rate: … }",
            "globalBurst", "write total: { burst: … }",
            "outputs", "write results",
            "maxInFlight", "write limit",
            "threads", "remove it, commands see no difference",
            "default", "write fallback: { value: … }");

    private Keys() {}
}
