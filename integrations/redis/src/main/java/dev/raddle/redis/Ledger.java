package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.group.PermitStatus;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The permits of an instance: what its executors want, what they have, and what the next call should say about it. */
final class Ledger {

    /*
     * Overview. Only the pump calls this, except where a method says otherwise.
     *
     * A permit that the server has granted is in the pool of its group or out with one executor, so
     *
     *   held = pool + the sum of out,  and the server counts held + toReturn for this instance
     *
     * Executors receive permits for one task each. When the task has ended the executor reports the permit as unused,
     * it is reclaimed, and:
     *
     *   - within its slice it goes to the pool, and from there to the next executor in turn that lacks one. So local
     *     tasks follow each other without a call, executors share fairly, and a permit never stays with an executor
     *     longer than one task, which is what lets other instances have it;
     *   - after its slice, or in a group with a rate, or without slices, it is returned to the server, and a ticket is
     *     asked for in the same call: the server decides in the order of tickets.
     *
     * The permits of a group share a slice. It begins with a grant when no permit of an earlier one is usable. When it
     * ends, those that are out are `stale`, and the pool is returned. If the server has said in its last quarter that
     * no other instance waits, it is extended instead, and only those permits of the pool are returned that were not
     * needed in it.
     *
     * An executor reports what it lacks, and each permit that it accepts counts against that. A report that was made
     * before a grant and arrives after it is too high; then a permit is granted that is not used, and comes back. The
     * number is never too low.
     *
     * A ticket is for as many permits as the first waiting task lacks, and the server serves it whole. An executor
     * receives permits only if there are enough for its first task; otherwise these stay in the pool until the slice
     * ends. If another task, which costs more, becomes the first one meanwhile, the executor keeps what it has. Such
     * tasks, in several groups under a cap or in several instances, may wait for each other. So if a group lacks
     * permits, has some out and is granted none for half of a lease, the executors return those that no task uses, and
     * the group wants none for a random time (until `yieldEnd`), in which others complete theirs.
     *
     * During an outage executors may receive local permits. When an executor returns permits, they are counted as local
     * ones first; so an executor never uses more permits of the server than are counted as out.
     */

    private static final int MOST_WATCHED = 64;

    private final FleetOptions options;
    private final BooleanSupplier hasLease;
    private final Counters counters;
    private final Notifier notifier;
    private final long slice;
    private final ConcurrentHashMap<String, LocalGroup> groups =
            new ConcurrentHashMap<>(); // of executors, by key; for other threads
    private final Map<String, LocalGroup> byName = new HashMap<>(); // all, as the server names them
    private final ArrayDeque<LocalGroup> dirty = new ArrayDeque<>();
    private final Set<LocalGroup> slices = new LinkedHashSet<>(); // groups with a slice that has not ended
    private Moment nextTick = Moment.NONE; // for those
    private final Set<LocalGroup> gathering = new LinkedHashSet<>(); // groups that may wait for each other, or yield
    private Moment lookAt = Moment.NONE; // at those
    private final long patience;
    private int localPermits; // of each group; positive only during an outage
    private long highestFence;

    Ledger(FleetOptions options, BooleanSupplier hasLease, Counters counters, Notifier notifier) {
        this.options = options;
        this.hasLease = hasLease;
        this.counters = counters;
        this.notifier = notifier;
        slice = options.slice().toNanos();
        patience = options.lease().toNanos() / 2;
    }

    // Executors.

    void demand(FleetSession session, String key, int wanted, int unused) {
        LocalGroup group = groupOf(key);
        boolean isNew = group.find(session) == null;
        Share share = group.share(session);
        share.wanted = wanted;
        if (isNew && group.limit > 0) {
            share.session.limit(key, highest(group));
        }
        if (unused > 0) {
            reclaim(group, share, unused);
        }
        settle(group);
    }

    /** Takes everything back from an executor that has terminated. */
    void closeSession(FleetSession session) {
        for (LocalGroup group : List.copyOf(byName.values())) {
            Share share = group.find(session);
            if (share != null) {
                share.wanted = 0;
                int unused = share.session.reclaim(group.key, Integer.MAX_VALUE).unused();
                giveBack(group, share.out, Math.min(share.out, unused));
                share.out = 0;
                share.local = 0;
                settle(group);
            }
        }
    }

    private LocalGroup groupOf(String key) {
        LocalGroup group = groups.get(key);
        if (group == null) {
            String name = GroupNames.of(key);
            group = byName.computeIfAbsent(name, any -> new LocalGroup(key, name));
            group.key = key; // the server's name may have only a part of it
            groups.put(key, group);
        }
        return group;
    }

    /** Returns the group of a name that the server knows. The name has only a part of a long key. */
    private LocalGroup named(String name) {
        return byName.computeIfAbsent(name, any -> new LocalGroup(GroupNames.keyOf(name), name));
    }

    private void reclaim(LocalGroup group, Share share, int most) {
        PermitSource.Reclaimed reclaimed = share.session.reclaim(group.key, most);
        int permits = takeBack(share, reclaimed);
        int unused = Math.min(permits, reclaimed.unused());
        if (group.hasRate || slice == 0) {
            giveBack(group, permits, unused);
        } else {
            int stale = Math.min(permits, group.stale);
            group.stale -= stale;
            giveBack(group, stale, 0);
            group.pool += permits - stale;
        }
    }

    /** Counts what an executor has returned, local permits first; returns how many are of the server. */
    private static int takeBack(Share share, PermitSource.Reclaimed reclaimed) {
        int all = reclaimed.total();
        int local = Math.min(all, share.local);
        share.local -= local;
        int permits = Math.min(all - local, share.out);
        share.out -= permits;
        return permits;
    }

    /** Queues permits for their return. They are no longer held. */
    private void giveBack(LocalGroup group, int permits, int unused) {
        int unpaid = Math.min(permits, group.unpaid);
        group.unpaid -= unpaid;
        group.held -= permits;
        group.stale = Math.min(group.stale, group.held);
        counters.hold(-permits);
        group.toReturn += permits;
        group.toRefund += group.hasRate ? Math.min(unused, permits - unpaid) : 0;
    }

    // Grants.

    /** Passes permits on, returns what must not be kept, and notes the group if the next call concerns it. */
    private void settle(LocalGroup group) {
        distribute(group);
        distributeLocal(group);
        noteSize(group);
        if (group.pool > 0 && (group.hasRate || slice == 0)) {
            int unused = group.pool;
            group.pool = 0;
            giveBack(group, unused, unused);
        }
        group.leastPool = Math.min(group.leastPool, group.pool);
        group.shares.removeIf(Share::isIdle);
        noteMissing(group);
        noteGathering(group);
        if (group.hasOperation()) {
            mark(group);
        }
        forgetIfIdle(group);
    }

    private void distribute(LocalGroup group) {
        while (group.pool > 0 && hasLease.getAsBoolean()) {
            Share share = group.nextMissing();
            int needed = share == null ? Integer.MAX_VALUE : share.session.neededAtOnce(group.key, highest(group));
            if (share == null || needed > group.pool) {
                return;
            }
            group.isActive = true;
            FleetSession.Outcome outcome = FleetSession.Outcome.ACCEPTED;
            for (int i = 0; i < needed && outcome == FleetSession.Outcome.ACCEPTED; i++) {
                group.pool--;
                share.out++;
                outcome = grant(group, share, group.useFence());
                if (outcome != FleetSession.Outcome.ACCEPTED) {
                    share.out--;
                    group.pool++;
                }
            }
            if (outcome == FleetSession.Outcome.FAILED) {
                return; // the group is served again when its slice ends, or after the next call
            }
        }
    }

    /** Notes how many permits a ticket must be for, so that any executor can use them. */
    private void noteSize(LocalGroup group) {
        int size = 0;
        for (Share share : group.shares) {
            size = share.wanted > 0 ? Math.max(size, share.session.neededAtOnce(group.key, highest(group))) : size;
        }
        group.size = size > 0 ? size : group.size;
    }

    private void distributeLocal(LocalGroup group) {
        while (group.local() < localPermits) {
            Share share = group.nextMissing();
            if (share == null) {
                return;
            }
            share.local++;
            highestFence++;
            FleetSession.Outcome outcome = grant(group, share, highestFence);
            if (outcome != FleetSession.Outcome.ACCEPTED) {
                share.local--;
            }
            if (outcome == FleetSession.Outcome.FAILED) {
                return;
            }
        }
    }

    private static FleetSession.Outcome grant(LocalGroup group, Share share, long fence) {
        FleetSession.Outcome outcome = share.session.grant(group.key, fence);
        switch (outcome) {
            case ACCEPTED -> share.wanted--;
            case REFUSED -> share.wanted = 0;
            case FAILED -> {}
        }
        return outcome;
    }

    /** Returns the most permits that one task can get. */
    private static int highest(LocalGroup group) {
        return group.limit > 0 ? group.limit : RedisFleet.HIGHEST_LIMIT;
    }

    /** Receives permits from the server. */
    private void granted(LocalGroup group, int permits, long fence, boolean isOfRate) {
        long now = now();
        if (isOfRate) {
            setRate(group, true);
        } else if (group.hasRate) {
            group.unpaid += permits;
        }
        if (group.held - group.stale == 0) {
            beginSlice(group, now);
        }
        group.add(permits, fence);
        gathering.remove(group);
        counters.hold(permits);
        highestFence = Math.max(highestFence, fence);
        long waited = group.missingSince.isSet() ? Math.max(0, now - group.missingSince.nanos()) : 0;
        counters.acquired(permits, waited);
        String key = group.key;
        Duration wait = Duration.ofNanos(waited);
        notifier.postFrequent(permits, listener -> listener.acquired(key, wait));
    }

    private void setRate(LocalGroup group, boolean hasRate) {
        if (hasRate && !group.hasRate) {
            group.unpaid = group.held;
        }
        group.hasRate = hasRate;
    }

    private void noteMissing(LocalGroup group) {
        group.missingCount = group.missing();
        if (group.missingCount == 0) {
            group.missingSince = Moment.NONE;
        } else if (!group.missingSince.isSet()) {
            group.missingSince = Moment.at(now());
        }
    }

    // Slices.

    private void beginSlice(LocalGroup group, long now) {
        group.sliceEnd = now + slice;
        group.leastPool = group.pool;
        group.isInformed = false;
        group.isAsked = false;
        group.isActive = false;
        if (slice > 0) {
            slices.add(group);
            nextTick = nextTick.orEarlier(askMoment(group));
        }
    }

    private void endSlice(LocalGroup group, long now) {
        int unneeded = group.pool;
        if (group.isInformed && !group.isContended && group.isActive) {
            unneeded = Math.min(group.leastPool, group.pool);
        }
        group.pool -= unneeded;
        giveBack(group, unneeded, unneeded);
        if (group.isInformed && !group.isContended && group.held > group.stale) {
            beginSlice(group, now);
        } else {
            group.stale = group.held;
            slices.remove(group);
        }
        settle(group);
    }

    /** Ends the slices that are over, and asks whether those that are about to end may be extended. */
    void tick(long now) {
        if (lookAt.isReached(now)) {
            lookAtGathering(now);
        }
        if (!nextTick.isReached(now)) {
            return;
        }
        nextTick = Moment.NONE;
        for (LocalGroup group : List.copyOf(slices)) {
            if (now - group.sliceEnd >= 0) {
                endSlice(group, now);
            } else if (now - askMoment(group) < 0) {
                nextTick = nextTick.orEarlier(askMoment(group));
            } else {
                ask(group);
                nextTick = nextTick.orEarlier(group.sliceEnd);
            }
        }
    }

    private void ask(LocalGroup group) {
        if (group.isActive && !group.isAsked) {
            group.isAsked = true;
            group.asksInfo = true;
            mark(group);
        }
    }

    private long askMoment(LocalGroup group) {
        return group.sliceEnd - slice / 4;
    }

    /** Returns the time until {@link #tick} has something to do, in nanoseconds. */
    long untilTick(long now) {
        return Math.max(0, Math.min(nextTick.until(now), lookAt.until(now)));
    }

    // Tasks that cost several permits.

    private void noteGathering(LocalGroup group) {
        boolean mayGather = group.yieldEnd.isSet() || (group.missingSince.isSet() && group.held > group.pool);
        if (!mayGather) {
            gathering.remove(group);
        } else if (gathering.add(group)) {
            group.lastGrant = now();
            lookAt = lookAt.isSet() ? lookAt : Moment.at(group.lastGrant + patience);
        }
    }

    private void lookAtGathering(long now) {
        lookAt = Moment.NONE;
        for (LocalGroup group : List.copyOf(gathering)) {
            if (group.yieldEnd.isReached(now)) {
                group.yieldEnd = Moment.NONE;
                gathering.remove(group);
                settle(group);
            } else if (!group.yieldEnd.isSet() && now - (group.lastGrant + patience) >= 0) {
                gathering.remove(group);
                returnGathered(group, now);
                settle(group);
            }
        }
        if (!gathering.isEmpty()) {
            lookAt = lookAt.isSet() ? lookAt : Moment.at(now + patience / 4);
        }
    }

    /** Returns what executors have gathered for tasks that lack more, if they have. */
    private void returnGathered(LocalGroup group, long now) {
        for (Share share : group.shares) {
            PermitSource.Reclaimed gathered = share.session.reclaimGathered(group.key);
            int permits = takeBack(share, gathered);
            if (permits > 0) {
                group.stale -= Math.min(permits, group.stale);
                giveBack(group, permits, Math.min(permits, gathered.unused()));
                group.yieldEnd = Moment.at(
                        now + patience / 2 + ThreadLocalRandom.current().nextLong(patience));
            }
        }
    }

    // Calls.

    private void mark(LocalGroup group) {
        if (!group.isDirty) {
            group.isDirty = true;
            dirty.add(group);
        }
    }

    boolean hasOperations() {
        return !dirty.isEmpty();
    }

    /** Adds what the server must be told and asked, as much as a call may contain. */
    void addOperations(Batch batch) {
        for (LocalGroup group; !batch.isFull() && (group = dirty.poll()) != null; ) {
            group.isDirty = false;
            group.addOperations(batch, options);
            forgetIfIdle(group);
        }
    }

    /** Takes the answer to a call. */
    void answered(Answer answer) {
        List<LocalGroup> concerned = new ArrayList<>();
        for (Answer.Group info : answer.groups) {
            LocalGroup group = named(info.group());
            inform(group, info, answer);
            concerned.add(group);
        }
        for (Answer.Grant grant : answer.grants) {
            LocalGroup group = named(grant.group());
            granted(group, grant.permits(), grant.fence(), grant.isOfRate());
            concerned.add(group);
        }
        if (answer.isSync) {
            concerned.addAll(compare(answer));
        }
        concerned.forEach(this::settle);
    }

    private void inform(LocalGroup group, Answer.Group info, Answer answer) {
        group.tickets = info.tickets();
        group.isContended = info.isContended();
        group.isInformed = true;
        setRate(group, info.hasRate());
        if (group.limit != info.limit()) {
            group.limit = info.limit();
            group.shares.forEach(share -> share.session.limit(group.key, highest(group)));
        }
        List<PermitStatus.Holding> holders = answer.holders.get(info.group());
        if (holders != null || info.tickets() == 0) { // else the server has not counted those before
            group.position = info.position();
        }
        group.status =
                new PermitStatus(group.limit, group.position, holders != null ? holders : group.status.holders());
    }

    // Repair.

    /** Compares with what the server knows: takes grants that were not received, reasserts what it does not know. */
    private List<LocalGroup> compare(Answer answer) {
        Map<LocalGroup, Answer.Known> known = new HashMap<>();
        answer.known.forEach(each -> known.put(named(each.group()), each));
        for (LocalGroup group : byName.values()) {
            Answer.Known at = known.get(group);
            int counted = at == null ? 0 : at.permits();
            int here = group.held + group.toReturn;
            group.tickets = at == null ? 0 : at.tickets();
            if (at != null && counted > here) {
                granted(group, counted - here, at.fence(), at.isOfRate());
            } else if (counted < here) {
                group.isReasserted = true;
            }
        }
        return List.copyOf(byName.values());
    }

    /** Lets the next calls state exactly what is held. */
    void reassertAll() {
        for (LocalGroup group : List.copyOf(byName.values())) {
            group.tickets = 0;
            group.toReturn = 0;
            group.toRefund = 0;
            group.isReasserted = true;
            group.isResolved = false;
            mark(group);
        }
    }

    /** Takes all permits of the server back from the executors, because they are lost; returns their number. */
    int loseAll(String reason) {
        int lost = 0;
        for (LocalGroup group : List.copyOf(byName.values())) {
            lost += group.held;
            for (Share share : group.shares) {
                if (share.out > 0) {
                    share.session.revoke(group.key, share.out, reason);
                }
            }
            counters.hold(-group.held);
            group.forgetServer();
            slices.remove(group);
            gathering.remove(group);
            group.shares.removeIf(Share::isIdle);
            if (group.need() > 0) {
                mark(group);
            }
            forgetIfIdle(group);
        }
        return lost;
    }

    /** Begins to grant local permits, or ends it with 0. */
    void grantLocally(int permits) {
        localPermits = permits;
        for (LocalGroup group : List.copyOf(byName.values())) {
            settle(group);
        }
    }

    /** Returns whether an executor has permits of the server. */
    boolean isAnyOut() {
        return byName.values().stream().anyMatch(group -> group.held > group.pool);
    }

    /** Returns the pools, and lets no executor have a permit from now on. */
    void returnPools() {
        for (LocalGroup group : List.copyOf(byName.values())) {
            group.shares.forEach(share -> share.wanted = 0);
            int unused = group.pool;
            group.pool = 0;
            giveBack(group, unused, unused);
            settle(group);
        }
    }

    private void forgetIfIdle(LocalGroup group) {
        if (group.isIdle()) {
            groups.remove(group.key, group);
            byName.remove(group.name);
            slices.remove(group);
            gathering.remove(group);
        }
    }

    // Status.

    /** Called at each heartbeat: asks for the holders of groups whose status was read. */
    void refreshStatus() {
        int asked = 0;
        for (Iterator<LocalGroup> all = byName.values().iterator(); all.hasNext() && asked < MOST_WATCHED; ) {
            LocalGroup group = all.next();
            if (group.isWatched) {
                group.isWatched = false;
                group.asksHolders = true;
                mark(group);
                asked++;
            }
        }
    }

    /** Asks for the limits of all groups, because some have changed. */
    void askAll() {
        for (LocalGroup group : byName.values()) {
            group.asksInfo = true;
            mark(group);
        }
    }

    boolean hasTickets() {
        return byName.values().stream().anyMatch(group -> group.tickets > 0);
    }

    /** Returns a group, from any thread. */
    @Nullable
    LocalGroup find(String key) {
        return groups.get(key);
    }

    /** Returns the number of groups, from any thread. */
    int size() {
        return groups.size();
    }

    /** Returns what is missing in all groups, roughly, from any thread. */
    long missing() {
        long sum = 0;
        for (LocalGroup group : groups.values()) {
            sum += group.missingCount;
        }
        return sum;
    }

    private long now() {
        return options.timeSource().nanoTime();
    }
}
