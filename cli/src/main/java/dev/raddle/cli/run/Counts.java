package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The outcomes of a set of tasks.
 *
 * @param tasks the number of tasks that have ended
 * @param attempts the number of processes started for them
 * @param waitMillis the sum of their wait times
 * @param runMillis the sum of their run times
 * @param peakRunning the maximum number of them that ran at once, including pauses between attempts
 */
public record Counts(
        long tasks,
        long succeeded,
        long failed,
        long timedOut,
        long rejected,
        long cancelled,
        long skipped,
        long attempts,
        long waitMillis,
        long runMillis,
        int peakRunning) {

    /** Returns the values in the order of the documented fields. */
    public Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("tasks", tasks);
        fields.put("succeeded", succeeded);
        fields.put("failed", failed);
        fields.put("timedOut", timedOut);
        fields.put("rejected", rejected);
        fields.put("cancelled", cancelled);
        fields.put("skipped", skipped);
        fields.put("attempts", attempts);
        fields.put("waitMillis", waitMillis);
        fields.put("runMillis", runMillis);
        fields.put("peakRunning", peakRunning);
        return fields;
    }
}
