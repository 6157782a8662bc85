package dev.raddle.cli.run;

import dev.raddle.pool.ShutdownReport;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * What became of every task that a run had accepted, when it was drained: the sum of the {@link ShutdownReport}s of its
 * threads, and what never got one.
 *
 * @param completedBefore how many had ended when the drain began
 * @param completedDuring how many ended during the drain, by themselves
 * @param interrupted how many were told to end when the grace was over, and did
 * @param handedBack the ids of those that never started
 * @param stillRunning how many did not end although they were told to
 */
public record Account(
        long completedBefore, long completedDuring, long interrupted, List<String> handedBack, long stillRunning) {

    /** Copies the list. */
    public Account {
        handedBack = List.copyOf(handedBack);
    }

    /**
     * Adds up.
     *
     * @param handedBack all tasks that never started, those that a pool handed back among them
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

    /** How many tasks were accepted: the sum of all. */
    public long accepted() {
        return completedBefore + completedDuring + interrupted + handedBack.size() + stillRunning;
    }

    /** The same in the order of the documented fields. */
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
