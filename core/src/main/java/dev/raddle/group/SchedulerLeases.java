package dev.raddle.group;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The leases of the schedulers of groups, from the lookup of a group's limits until the group is removed. Schedulers of
 * which nothing needs to be leased, such as virtual threads, have no entry.
 */
final class SchedulerLeases {

    private final ExceptionSink sink;
    private final ConcurrentHashMap<Group, Scheduler.Lease> open = new ConcurrentHashMap<>();

    SchedulerLeases(ExceptionSink sink) {
        this.sink = sink;
    }

    /** Takes a lease of the scheduler of a group, which may be removed meanwhile, and ends that of an earlier one. */
    void take(Group group, Scheduler scheduler) {
        try {
            Scheduler.Lease taken = scheduler.lease();
            if (taken != Scheduler.Lease.NOTHING) {
                close(open.put(group, taken));
                if (group.isRetired()) { // the thread that retired it may not have seen the lease
                    end(group);
                }
            }
        } catch (Throwable failure) {
            sink.report("lease of the scheduler of group \"" + group.key + "\"", failure);
        }
    }

    /** Ends the lease of a group that was retired. */
    void end(Group group) {
        if (!open.isEmpty()) {
            close(open.remove(group));
        }
    }

    private void close(Scheduler.@Nullable Lease lease) {
        try {
            if (lease != null) {
                lease.close();
            }
        } catch (Throwable failure) {
            sink.report("end of the lease of a scheduler", failure);
        }
    }
}
