package dev.raddle.cli.run;

import dev.raddle.pool.ShutdownReport;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The outcomes of all tasks that a drained run had accepted: the sum of the {@link ShutdownReport}s of its threads, and
 * the tasks that never got a thread.
 *
 * @param completedBefore the number of tasks that had ended when the drain began
 * @param completedDuring the number of tasks that ended by themselves during the drain
 * @param interrupted the number of tasks that were interrupted after the grace period and ended
 * @param handedBack the ids of the tasks that never started
 * @param stillRunning the number of tasks that did not end although they were interrupted
 */
public record Account(
        long completedBefore, long completedDuring, long interrupted, List<String> handedBack, long stillRunning) {

    /** Copies the list. */
    public Account {
        handedBack = List.copyOf(handedBack);
    }

    /**
     * Returns the sum of reports.
     *
     * @param handedBack all tasks that never started, including those that a pool handed back
     */
    static Account of(Collection<ShutdownReport> reports, List<String> handedBack) {
        return new Account(
                sum(reports, ShutdownReport::completedBefore),
                sum(reports, ShutdownReport::completedDuring),
                sum(reports, report -> report.interrupted().size()),
                handedBack,
                sum(reports, report -> report.stillRunning().size()));
    }

    private static long sum(Collection<ShutdownReport> reports, ToLongFunction<ShutdownReport> number) {
        return reports.stream().mapToLong(number).sum();
    }

    /** Returns the number of accepted tasks: the sum of all. */
    public long accepted() {
        return completedBefore + completedDuring + interrupted + handedBack.size() + stillRunning;
    }

    /** Returns the values in the order of the documented fields. */
    public Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("accepted", accepted());
        fields.put("completedBefore", completedBefore);
        fields.put("completedDuring", completedDuring);
        fields.put("interrupted", interrupted);
        fields.put("handedBack", handedBack.size());
        fields.put("stillRunning", stillRunning);
        fields.put("handedBackIds", handedBack);
        return fields;
    }
}
