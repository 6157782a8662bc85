package dev.raddle.micrometer;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The tasks of one key that has meters of its own, or of all that have not. */
final class Row {

    /** Where a task of a row is. */
    record Standing(Row row, boolean runs) {}

    final String key;
    final LongAdder traffic = new LongAdder(); // how often it was submitted of late
    final LongAdder waiting = new LongAdder();
    final LongAdder running = new LongAdder();
    final Standing waits = new Standing(this, false);
    final Standing runs = new Standing(this, true);
    volatile @Nullable RowMeters meters; // null before it has got them, and after it has lost them

    Row(String key, long traffic) {
        this.key = key;
        this.traffic.add(traffic);
    }
}
