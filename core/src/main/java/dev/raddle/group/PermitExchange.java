package dev.raddle.group;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Connects the groups of one executor with its {@link PermitSource}. */
final class PermitExchange implements PermitSource.Holder {

    /*
     * Overview.
     *
     * Groups whose demand has changed are in the queue `changed`. Each is in it at most once, and enters it under its
     * lock. One thread at a time is the reporter: the one that increments `signals` from zero starts it. The reporter
     * empties the queue, calls the source for each group, without a lock, and resigns by a compare-and-set from the
     * number of signals that it read before, so no change is overlooked. It runs in a thread of its own, because the
     * source may block. While the source blocks, changes gather, and a group that changed often is reported once.
     *
     * Granted runs are started in a virtual thread, too, and not by the decisions of alarms: a handoff to a platform
     * thread for each grant would halve the throughput of a fleet, and the demand that a grant answers has needed a
     * carrier before.
     *
     * After the executor has terminated, the reporter closes the session. It is the last call of the source.
     */

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

    private final GroupEngine engine;
    private final PermitSource source;
    private final OffloadExecutor elsewhere;
    private final ConcurrentLinkedQueue<LeasedGroup> changed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger signals = new AtomicInteger();
    private final Signal closed = new Signal();
    private final ConcurrentHashMap<String, LeasedGroup> removed =
            new ConcurrentHashMap<>(); // by shutdown, with permits
    private volatile PermitSource.@Nullable Session session; // null until the source is opened
    private boolean isClosing; // owned by the reporter

    PermitExchange(GroupEngine engine, PermitSource source) {
        this.engine = engine;
        this.source = source;
        this.elsewhere = engine.offloadExecutor.forLongActions();
    }

    /** Opens the session. Called once, before the executor is used. */
    void open() {
        session = Objects.requireNonNull(source.open(this), "the permit source has returned no session");
    }

    Group newGroup(String key) {
        return new LeasedGroup(key, engine, this);
    }

    /** Keeps a group that is removed with permits, so that the source can take these back. */
    void keep(LeasedGroup group) {
        removed.putIfAbsent(group.key, group);
        if (closed.isSet()) { // the source has returned all permits
            removed.clear();
        }
    }

    // The reporter.

    /** Adds a group that is not in the queue. Called under its lock. */
    void add(LeasedGroup group) {
        changed.add(group);
    }

    void wakeIfChanged() {
        if (!changed.isEmpty()) {
            wake();
        }
    }

    private void wake() {
        if (signals.getAndIncrement() == 0) {
            elsewhere.execute(this::report);
        }
    }

    private void report() {
        int seen;
        do {
            seen = signals.get();
            reportChanged();
            closeIfTerminated();
        } while (!signals.compareAndSet(seen, 0));
    }

    private void reportChanged() {
        for (LeasedGroup group; (group = changed.poll()) != null; ) {
            LeasedGroup.Demand demand = group.takeDemand();
            if (demand != null && !isClosing) {
                report(group, demand);
            }
        }
    }

    private void report(LeasedGroup group, LeasedGroup.Demand demand) {
        try {
            session().demand(group.key, demand.wanted(), demand.unused());
        } catch (Throwable failure) {
            group.demandFailed();
            engine.sink.report("demand() of the permit source", failure);
        }
    }

    private PermitSource.Session session() {
        return Objects.requireNonNull(session, "the permit source is being opened");
    }

    // The end.

    /** Closes the session, in another thread. Called when the executor has terminated. */
    void close() {
        wake();
    }

    private void closeIfTerminated() {
        if (isClosing || !engine.terminated.isSet()) {
            return;
        }
        isClosing = true;
        engine.policy
                .exceptionSink()
                .guard(() -> "close() of the permit source", () -> session().close());
        closed.set();
        removed.clear(); // afterwards, so that no group is kept for ever
    }

    /** Waits until the session is closed, for a bounded time. The interrupt status of the thread is kept. */
    void awaitClosed() {
        if (engine.time.follow(() -> {})) {
            return; // this thread fires an alarm, and will run the reporter afterwards
        }
        try {
            closed.await(Deadline.after(engine.time, LONGEST_CLOSE));
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    PermitStatus status(String key) {
        try {
            return Objects.requireNonNullElse(session().status(key), PermitStatus.UNKNOWN);
        } catch (Throwable failure) {
            engine.sink.report("status() of the permit source", failure);
            return PermitStatus.UNKNOWN;
        }
    }

    // The holder.

    private @Nullable LeasedGroup find(String key) {
        Objects.requireNonNull(key, "groupKey");
        if (closed.isSet()) {
            return null;
        }
        LeasedGroup kept = removed.isEmpty() ? null : removed.get(key);
        return kept != null ? kept : (LeasedGroup) engine.groups.get(key);
    }

    @Override
    public boolean grant(String groupKey, long fence) {
        return grant(groupKey, fence, false);
    }

    @Override
    public boolean grantOnce(String groupKey, long fence) {
        return grant(groupKey, fence, true);
    }

    @Override
    public int neededAtOnce(String groupKey) {
        LeasedGroup group = find(groupKey);
        return group == null ? 1 : group.neededAtOnce();
    }

    private boolean grant(String key, long fence, boolean isForOneTask) {
        LeasedGroup group = find(key);
        GrantedPermits grants = new GrantedPermits();
        if (group == null || !group.grant(fence, isForOneTask, grants)) {
            return false;
        }
        dispatchLater(grants);
        return true;
    }

    @Override
    public PermitSource.Reclaimed reclaim(String groupKey, int most) {
        requireNotNegative("most", most);
        return reclaim(groupKey, group -> group.reclaim(most));
    }

    @Override
    public PermitSource.Reclaimed reclaimGathered(String groupKey) {
        return reclaim(groupKey, LeasedGroup::reclaimGathered);
    }

    private PermitSource.Reclaimed reclaim(String key, Function<LeasedGroup, PermitSource.Reclaimed> action) {
        LeasedGroup group = find(key);
        if (group == null) {
            return PermitSource.Reclaimed.NONE;
        }
        PermitSource.Reclaimed reclaimed = action.apply(group);
        afterLoss(group);
        return reclaimed;
    }

    @Override
    public int revoke(String groupKey, int permits, String reason) {
        requireNotNegative("permits", permits);
        Objects.requireNonNull(reason, "reason");
        LeasedGroup group = find(groupKey);
        if (group == null) {
            return 0;
        }
        List<GroupRun<?>> losing = new ArrayList<>();
        String loss = "lost a permit of group \"" + groupKey + "\": " + reason;
        int revoked = group.revoke(permits, loss, losing);
        if (engine.policy.lostPermits() == LostPermitPolicy.INTERRUPT) {
            losing.forEach(run -> run.losePermits(loss));
        }
        afterLoss(group);
        return revoked;
    }

    @Override
    public void limit(String groupKey, int permits) {
        GroupExecutor.requireAtLeastOne("the limit of group \"" + groupKey + "\"", permits);
        LeasedGroup group = find(groupKey);
        if (group != null) {
            GrantedPermits grants = new GrantedPermits();
            group.limit(permits, grants);
            dispatchLater(grants);
        }
    }

    private static void requireNotNegative(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must be at least 0, was " + value);
        }
    }

    private void afterLoss(LeasedGroup group) {
        if (group.permitsNow() == 0) {
            removed.remove(group.key, group);
        }
        dispatchLater(new GrantedPermits()); // the cap may have kept slots for this group
    }

    /** Starts granted runs in another thread, because the caller is the source. */
    private void dispatchLater(GrantedPermits grants) {
        if (!grants.isEmpty() || engine.cap.hasWork()) {
            elsewhere.execute(() -> engine.dispatch(grants));
        }
        wakeIfChanged();
    }
}
