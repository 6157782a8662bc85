package dev.raddle.console;

import dev.raddle.task.Outcome;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Counts what happens to the tasks of each owner, such as a group, and collects their failures. */
final class Activity implements TaskListener {

    /** When so many owners have counts, all counts begin again: the memory is bounded, whatever the keys are. */
    private static final int MOST_OWNERS = 100_000;

    /** The counts of one owner. */
    static final class Counts {
        final LongAdder starts = new LongAdder(); // only while a client looks
        final LongAdder rejected = new LongAdder();
        final LongAdder failed = new LongAdder();
    }

    private final String name;
    private final Failures failures;
    private final Changes changes;
    private final BooleanSupplier isLookedAt;
    private final LongAdder starts = new LongAdder(); // of all owners
    final RunTimes runTimes = new RunTimes();
    private final ConcurrentHashMap<String, Counts> byOwner = new ConcurrentHashMap<>();

    Activity(String name, Failures failures, Changes changes, BooleanSupplier isLookedAt) {
        this.name = name;
        this.failures = failures;
        this.changes = changes;
        this.isLookedAt = isLookedAt;
    }

    @Override
    public void onStarted(TaskIdentity task, long waitNanos) {
        starts.increment();
        if (isLookedAt.getAsBoolean()) {
            countsOf(task.owner()).starts.increment();
        }
    }

    @Override
    public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
        if (runNanos > 0) {
            runTimes.add(task.owner(), runNanos);
        }
        switch (outcome) {
            case Outcome.Failure<?> failure -> {
                countsOf(task.owner()).failed.increment();
                failures.add(name, task.owner(), failure.error(), System.currentTimeMillis());
            }
            case Outcome.Rejected<?> rejected -> countsOf(task.owner()).rejected.increment();
            default -> {}
        }
    }

    @Override
    public void onChanged(OwnerChange change) {
        changes.add(name, change, System.currentTimeMillis());
    }

    /** Returns the number of tasks that have started. */
    long starts() {
        return starts.sum();
    }

    private Counts countsOf(String owner) {
        Counts known = byOwner.get(owner);
        if (known != null) {
            return known;
        }
        if (byOwner.mappingCount() >= MOST_OWNERS) {
            byOwner.clear();
        }
        return byOwner.computeIfAbsent(owner, key -> new Counts());
    }

    /** Returns the counts of an owner, or null if nothing was counted. */
    @Nullable
    Counts get(String owner) {
        return byOwner.get(owner);
    }
}
