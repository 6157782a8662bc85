package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.task.WaitReason;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the groups of an engine: statistics, reasons for waiting, and whether there are any tasks. */
record GroupMonitor(GroupEngine engine) {

    private static final Signal SET_SIGNAL = new Signal(); // the caller repeats its check at once

    static {
        SET_SIGNAL.set();
    }

    /** Checks once more after the deadline, and not again: the signals may be set at every check. */
    static boolean awaitIdle(Deadline deadline, Supplier<@Nullable Signal> firstBusy) throws InterruptedException {
        for (; ; ) {
            boolean isLast = deadline.hasPassed();
            Signal busy = firstBusy.get();
            if (busy == null) {
                return true;
            }
            if (isLast || !busy.await(deadline)) {
                return false;
            }
        }
    }

    /*
     * The groups are read twice. All groups were empty at one moment if each is empty at both reads, none has become
     * empty again between its first read and its second, and no group was created in between. Then each group was empty
     * from its first read to its second, and all of these intervals contain the moment between the two passes.
     */

    /** Returns a signal after which to check again, or null if all groups were empty at one moment. */
    @Nullable
    Signal firstBusy() {
        long groupsBefore = engine.groupsCreated.get();
        Map<Group, Long> emptySince = new HashMap<>();
        for (Group group : engine.groups.values()) {
            Signal busy = group.untilEmpty();
            if (busy != null) {
                return busy;
            }
            emptySince.put(group, group.emptySince());
        }
        for (Map.Entry<Group, Long> seen : emptySince.entrySet()) {
            Signal busy = seen.getKey().untilEmpty();
            if (busy != null) {
                return busy;
            }
            if (seen.getKey().emptySince() != seen.getValue()) {
                return SET_SIGNAL;
            }
        }
        return engine.groupsCreated.get() == groupsBefore ? null : SET_SIGNAL;
    }

    Optional<GroupStats> stats(String key) {
        Group group = engine.groups.get(key);
        Optional<GroupStats> stats = group == null ? Optional.empty() : group.stats();
        PermitExchange permits = engine.permits;
        return permits == null ? stats : stats.map(known -> known.with(permits.status(key)));
    }

    GroupExecutorStats stats() {
        long now = engine.time.nanoTime();
        int[] sums = new int[3];
        engine.groups.values().forEach(group -> group.addTo(sums, now));
        int max = engine.cap.max();
        int used = max == FairCap.UNLIMITED ? 0 : engine.cap.used(); // a global rate counts the slots, too
        return new GroupExecutorStats(sums[0], sums[1], sums[2], used, max);
    }

    /** Returns all active groups, each read when the stream comes to it. */
    Stream<GroupState> states() {
        return engine.groups.values().stream().map(Group::state).flatMap(Optional::stream);
    }

    Set<String> activeKeys() {
        long now = engine.time.nanoTime();
        return engine.groups.values().stream()
                .filter(group -> group.isActive(now))
                .map(group -> group.key)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Explains the first waiting task of a group with an id, or the first of all if the id is null. */
    Optional<Explanation> explainFirst(String key, @Nullable String taskId) {
        Group group = engine.groups.get(key);
        GroupRun<?> run = group == null ? null : group.firstWaiting(taskId);
        return Optional.ofNullable(run)
                .map(this::explain)
                .filter(why -> why.waitingFor() != WaitReason.NOTHING); // it has started meanwhile
    }

    /** Explains why a run waits, with the number of groups before its own at the cap. */
    Explanation explain(GroupRun<?> run) {
        Explanation explanation = withFleet(engine, run, run.group.explain(run));
        if (explanation.waitingFor() != WaitReason.GLOBAL_CAP) {
            return explanation;
        }
        long tag = run.group.tagAtCap();
        long now = engine.time.nanoTime();
        long before = engine.groups.values().stream()
                .filter(group -> group != run.group && group.isBeforeAtCap(tag, now))
                .count();
        return new Explanation(explanation.waitingFor(), explanation.place(), (int) before);
    }

    /** Adds what the permit source knows to an explanation of a run that waits for it. */
    static Explanation withFleet(GroupEngine engine, GroupRun<?> run, Explanation why) {
        return why.waitingFor() == WaitReason.FLEET_LIMIT && engine.permits != null
                ? why.withPermits(why.permits(), engine.permits.status(run.groupKey()))
                : why;
    }
}
