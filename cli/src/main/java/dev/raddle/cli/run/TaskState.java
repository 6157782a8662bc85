package dev.raddle.cli.run;

import java.util.Locale;
import java.util.Optional;

/** The state in which a task ended. */
public enum TaskState {
    /** Its command ended with exit code 0. */
    SUCCEEDED,
    /** Its command ended with another exit code, or could not be started. */
    FAILED,
    /** Its last attempt ran out of time. */
    TIMED_OUT,
    /** The queue of its group, or the global queue, was full. */
    REJECTED,
    /** The run was stopped before it began or while it ran. */
    CANCELLED,
    /** It did not run because it was not needed, or its condition did not hold. */
    SKIPPED;

    /** Returns the word in reports and events. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Optional<TaskState> of(String text) {
        for (TaskState state : values()) {
            if (state.text().equals(text)) {
                return Optional.of(state);
            }
        }
        return Optional.empty();
    }
}
