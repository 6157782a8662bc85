package dev.raddle.group;

import dev.raddle.time.Signal;
import org.jspecify.annotations.Nullable;

/** What only some groups have at a time. All fields are guarded by the group. */
final class GroupExtras {

    long holdEnd; // the moment at which the hold ends, if the group is suspended

    @Nullable
    GroupAlarm alarm; // pending: for the end of the hold, or the moment at which the rate allows the first task

    @Nullable
    Signal empty; // set when the group is empty; null if no thread waits for that

    int closings; // the number of threads that wait for the tasks of the closing group
}
