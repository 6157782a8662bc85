package dev.raddle.scope;

import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import java.time.Duration;
import java.util.List;

/**
 * The expiry of a scope's deadline. The tasks that it cancelled have the same object {@code cause} as their cause and
 * are identified by that.
 *
 * @param scope the name of the scope
 * @param budget the time that the scope had
 * @param unfinished the names of the tasks that had not ended
 * @param cause the cancellation cause of these tasks
 */
record DeadlineExpiry(String scope, Duration budget, List<String> unfinished, CancelledException cause) {

    private static final int MOST_NAMES = 10;

    static DeadlineExpiry of(String scope, Duration budget, List<String> unfinished) {
        return new DeadlineExpiry(
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
