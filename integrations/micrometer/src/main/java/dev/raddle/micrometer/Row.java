package dev.raddle.micrometer;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The tasks of a key with meters of its own, or of all other keys. */
final class Row {

    /**
     * The row and the state of a task.
     *
     * @param isAmongOthers whether its wait was recorded by the meters of other keys, so its run is, too
     */
    record TaskState(Row row, boolean runs, boolean isAmongOthers) {}

    final String key;
    final LongAdder traffic = new LongAdder(); // the number of recent submissions
    final LongAdder waiting = new LongAdder();
    final LongAdder running = new LongAdder();
    final TaskState waits = new TaskState(this, false, false);
    final TaskState runs = new TaskState(this, true, false);
    final TaskState runsAmongOthers = new TaskState(this, true, true);
    volatile @Nullable RowMeters meters; // null before the meters are added, and after they are removed

    Row(String key, long traffic) {
        this.key = key;
        this.traffic.add(traffic);
    }
}
