package dev.raddle.group;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** A group whose tasks also need permits of a {@link PermitSource}. */
final class LeasedGroup extends BreakerGroup {

    /*
     * Overview.
     *
     * The lock of the group also guards what the source has granted (FleetPermits). A task that starts takes as many
     * permits as slots, in the same step, and gives them back in the step that frees its slots. So the tasks use no
     * permit that the source has not granted or has taken back. A task whose permits are revoked holds its slots until
     * it ends. Such slots are `lost` = running - held, and count against the permits granted later:
     *
     *   a task may start if  slots <= free - lost
     *
     * The demand is a function of this state:
     *
     *   usable   slots that waiting tasks could take now, if permits were free; as far as the limits of the group, of
     *            the fleet, a pause, a hold and the rate allow; a full cap is disregarded
     *   needed   0 if usable is 0, else usable + lost
     *   wanted   max(0, needed - free)
     *   unused   max(0, free - needed) + spent
     *
     * At most one of wanted and free - needed is positive, so a permit that was asked for is not offered back until
     * the tasks that it was for have left. And wanted is positive if only a lack of permits keeps the first task
     * waiting: then usable is at least its slots, and free - lost is less.
     *
     * Each section that changes the state compares the demand with the one that was reported last (`checkDemand`).
     * If that is out of date, the group is `queued`: it is in the queue of the exchange, whose reporter computes the
     * demand anew and calls the source without a lock. The thread that queued the group wakes the reporter after it
     * has released the lock.
     *
     * The source counts each permit that it grants against the demand that it received last, and so does this group,
     * from the moment at which the demand was taken. That is the earlier moment, so `reported` is never more than the
     * source still knows to be wanted; the source may grant too much, which is offered back, but never too little.
     *
     * A busy group is not reported for every task. Unused permits are reported once, until the source has reclaimed
     * some or found that none is unused. A smaller number wanted is reported if it is less than half of the reported
     * one, or a permit is free, or something else than the end of a task made it smaller; so a group in which tasks
     * arrive as fast as they end reports nothing. If the source grants what is not wanted any more, the grant is
     * unused, and is reported.
     *
     * A group with permits is neither idle nor removed, until the source has reclaimed them. Only after a shutdown of
     * the executor an empty group is removed with its permits, and the exchange keeps it for the source.
     */

    private static final int NOT_REPORTED = -1;

    private final PermitExchange exchange;
    private final FleetPermits permits = new FleetPermits(); // guarded by this
    private int limit; // of the fleet, or 0 if it is unknown; guarded by this
    private int reported; // the number wanted in the last report, less what was granted since; guarded by this
    private boolean isOffered; // whether unused permits were reported since the last reclaim; guarded by this
    private boolean isQueued; // whether this is in the queue of the exchange; guarded by this

    LeasedGroup(String key, GroupEngine engine, PermitExchange exchange) {
        super(key, engine);
        this.exchange = exchange;
    }

    // What the gate asks, under the lock.

    @Override
    protected int mostSlots() {
        return limit == 0 ? Integer.MAX_VALUE : limit;
    }

    @Override
    protected boolean mayTake(int slots) {
        return slots <= permits.free() - lost();
    }

    private int lost() {
        return running() - permits.held();
    }

    @Override
    protected void took(Permit permit, int slots) {
        super.took(permit, slots);
        permits.take(permit, slots);
    }

    @Override
    protected void returned(Permit permit) {
        super.returned(permit);
        permits.giveBack(permit);
    }

    @Override
    protected void servedByCap(long now) {
        checkDemand(now, true);
    }

    @Override
    boolean keepsPermits() {
        return permits.total() > 0;
    }

    /** Returns the number of permits that the source has granted and not taken back. */
    int permitsNow() {
        return locked(permits::total);
    }

    @Override
    void beforeRemoval() {
        if (permitsNow() > 0) {
            exchange.keep(this);
        }
    }

    // The demand.

    /**
     * What the group wants and can return.
     *
     * @param wanted the number of further permits
     * @param unused the number of permits that the source may reclaim
     */
    record Demand(int wanted, int unused) {}

    private Demand demand(long now) {
        int usable = usable(now);
        int needed = usable == 0 ? 0 : usable + lost();
        int beyond = permits.free() - needed;
        return new Demand(Math.max(0, -beyond), Math.max(0, beyond) + permits.spent());
    }

    private int usable(long now) {
        if (waiting() == 0 || isStopped(PAUSED | SUSPENDED | BROKEN | PROBED) || !isBound() || isThrottled(now)) {
            return 0;
        }
        int most = Math.min(bounds().slots(), mostSlots());
        return Math.clamp((long) slotsOfFirst() + waiting() - 1, 0, Math.max(0, most - running()));
    }

    private boolean isThrottled(long now) {
        return bounds().rate() != null && now != GrantedPermits.NO_TIME && allowedAt(now) - now > 0;
    }

    @Override
    void checkDemand(long now, boolean byEnd) {
        if (!isQueued && isOutOfDate(demand(now), byEnd)) {
            isQueued = true;
            exchange.add(this);
        }
    }

    private boolean isOutOfDate(Demand demand, boolean byEnd) {
        if (demand.unused > 0 && !isOffered) {
            return true;
        }
        boolean isBusy = byEnd && permits.free() == 0 && permits.held() > 0;
        return isBusy ? demand.wanted > reported || demand.wanted < reported / 2 : demand.wanted != reported;
    }

    @Override
    void reportDemand() {
        exchange.wakeIfChanged();
    }

    /** Returns the demand of this group, which has left the queue, or null if it was reported before. */
    @Nullable
    Demand takeDemand() {
        long now = engine.time.nanoTime();
        return locked(() -> {
            isQueued = false;
            Demand demand = demand(now);
            if (!isOutOfDate(demand, false)) {
                return null;
            }
            reported = demand.wanted;
            isOffered = demand.unused > 0;
            return demand;
        });
    }

    /** Records that the source did not receive the last demand. The next change of this group reports again. */
    void demandFailed() {
        locked(() -> {
            reported = NOT_REPORTED;
            isOffered = false;
            return null;
        });
    }

    // What the source does.

    /** Adds a permit and grants what fits then; returns false if this group does not accept it. */
    boolean grant(long fence, boolean isForOneTask, GrantedPermits grants) {
        return change(grants, now -> {
            if (isRetired() || (engine.isShutdown() && waiting() == 0)) {
                return false;
            }
            permits.add(fence, isForOneTask);
            proceed(grants);
            reported = reported > 0 ? reported - 1 : reported;
            return true;
        });
    }

    /** Returns the number of permits that the first waiting task lacks, at least 1. */
    int neededAtOnce() {
        return locked(() -> Math.max(1, slotsOfFirst() + lost() - permits.free()));
    }

    /** Removes permits that are unused. */
    PermitSource.Reclaimed reclaim(int most) {
        return reclaim(demand -> Math.min(most, demand.unused));
    }

    /** Removes the permits that the first task cannot use, because it lacks others. */
    PermitSource.Reclaimed reclaimGathered() {
        return reclaim(demand -> demand.wanted > 0 ? permits.free() + permits.spent() : 0);
    }

    private PermitSource.Reclaimed reclaim(ToIntFunction<Demand> number) {
        return change(new GrantedPermits(), now -> {
            Demand demand = demand(now);
            int count = number.applyAsInt(demand);
            isOffered &= count == 0 && demand.unused > 0;
            PermitSource.Reclaimed reclaimed = permits.reclaim(count);
            reconsiderFirst();
            return reclaimed;
        });
    }

    /**
     * Removes permits, even if tasks use them.
     *
     * @param reason the reason, for the tasks
     * @param losing the list to which the runs are added that have lost permits
     * @return the number of permits that were removed
     */
    int revoke(int most, String reason, List<GroupRun<?>> losing) {
        return change(new GrantedPermits(), now -> {
            int count = Math.min(most, permits.total());
            boolean ofTasks = count > permits.free() + permits.spent();
            List<Permit> newestFirst = ofTasks ? heldNewestFirst() : List.of();
            permits.revoke(count, newestFirst, reason).forEach(permit -> losing.add((GroupRun<?>) permit));
            reconsiderFirst();
            return count;
        });
    }

    private List<Permit> heldNewestFirst() {
        List<Permit> held = new ArrayList<>();
        forEachHeld(held::add);
        return held.reversed();
    }

    /** Sets the limit of the fleet and grants what fits then. */
    void limit(int newLimit, GrantedPermits grants) {
        change(grants, now -> {
            limit = newLimit;
            proceed(grants);
            return true;
        });
    }

    // Monitoring.

    @Override
    OptionalLong fenceOf(GroupRun<?> run) {
        return locked(() -> isHeld(run) ? permits.fenceOf(run) : OptionalLong.empty());
    }

    @Override
    @Nullable
    String lossOf(GroupRun<?> run) {
        return engine.policy.lostPermits() == LostPermitPolicy.CONTINUE ? null : locked(() -> permits.lossOf(run));
    }

    @Override
    GroupStats.@Nullable Permits permitStats(long now) {
        return new GroupStats.Permits(limit, permits.total(), demand(now).wanted);
    }

    /** Returns whether the numbers of permits agree with the tasks, for tests. */
    boolean isConsistent() {
        return locked(() -> permits.isConsistent() && lost() >= 0);
    }
}
