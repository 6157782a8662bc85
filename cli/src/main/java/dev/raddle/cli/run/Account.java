package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The outcomes of all tasks that a drained run had accepted.
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

    /** Returns this account with the tasks that never got a thread. */
    Account with(List<String> neverStarted) {
        return new Account(completedBefore, completedDuring, interrupted, neverStarted, stillRunning);
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
