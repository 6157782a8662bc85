package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What became of a set of tasks.
 *
 * @param tasks how many have ended
 * @param attempts how many processes were started for them
 * @param waitMillis the sum of their waits
 * @param runMillis the sum of their run times
 * @param peakRunning how many of them ran at once at most, pauses between attempts included
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

    /** The same in the order of the documented fields. */
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
