package dev.raddle.scope;

import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import java.time.Duration;
import java.util.List;

/**
 * The passing of a scope's deadline. What it cancelled carries {@code cause}, the same object, and is known by that.
 *
 * @param scope what the scope is called
 * @param budget how much time it had
 * @param unfinished the names of what had not ended
 * @param cause why its tasks were cancelled
 */
record Expiry(String scope, Duration budget, List<String> unfinished, CancelledException cause) {

    private static final int MOST_NAMES = 10;

    static Expiry of(String scope, Duration budget, List<String> unfinished) {
        return new Expiry(
                scope,
                budget,
                unfinished,
                new CancelledException(
                        "the deadline of scope \"" + scope + "\" passed after " + TimeLimit.text(budget)));
    }

    ScopeTimeoutException exception() {
        String names = String.join("\", \"", unfinished.subList(0, Math.min(MOST_NAMES, unfinished.size())));
        String more = unfinished.size() > MOST_NAMES ? " and " + (unfinished.size() - MOST_NAMES) + " more" : "";
        return new ScopeTimeoutException(
                "scope \"" + scope + "\" ran out of time after " + TimeLimit.text(budget) + "; unfinished: "
                        + (unfinished.isEmpty() ? "nothing" : "\"" + names + "\"" + more),
                scope,
                budget,
                unfinished);
    }
}
