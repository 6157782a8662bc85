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
     * the group wants none for a random time (`isYielding`), in which others complete theirs.
     *
     * During an outage executors may receive local permits. When an executor returns permits, they are counted as local
     * ones first; so an executor never uses more permits of the server than are counted as out.
     */

    private static final int WINDOW = 1024; // most tickets of an instance in a group, as in the script
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
    private boolean isTickDue;
    private long nextTick; // if isTickDue
    private final Set<LocalGroup> gathering = new LinkedHashSet<>(); // groups that may wait for each other, or yield
    private boolean isLookDue; // at those
    private long lookAt; // if isLookDue
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
            limit(share, group);
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
                int unused = reclaimed(group, share, Integer.MAX_VALUE).unused();
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
        PermitSource.Reclaimed reclaimed = reclaimed(group, share, most);
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

    private PermitSource.Reclaimed reclaimed(LocalGroup group, Share share, int most) {
        try {
            return share.holder.reclaim(group.key, most);
        } catch (Throwable failure) {
            options.sink().report("reclaim() of an executor", failure);
            return PermitSource.Reclaimed.NONE;
        }
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
        if (hasOperation(group)) {
            mark(group);
        }
        forgetIfIdle(group);
    }

    private void distribute(LocalGroup group) {
        while (group.pool > 0 && hasLease.getAsBoolean()) {
            Share share = group.nextMissing();
            int needed = share == null ? Integer.MAX_VALUE : neededAtOnce(group, share);
            if (share == null || needed > group.pool) {
                return;
            }
            group.isActive = true;
            Outcome outcome = Outcome.ACCEPTED;
            for (int i = 0; i < needed && outcome == Outcome.ACCEPTED; i++) {
                group.pool--;
                share.out++;
                outcome = grant(group, share, group.useFence());
                if (outcome != Outcome.ACCEPTED) {
                    share.out--;
                    group.pool++;
                }
            }
            if (outcome == Outcome.FAILED) {
                return; // the group is served again when its slice ends, or after the next call
            }
        }
    }

    private int neededAtOnce(LocalGroup group, Share share) {
        try {
            int most = group.limit > 0 ? group.limit : RedisFleet.HIGHEST_LIMIT;
            return Math.clamp(share.holder.neededAtOnce(group.key), 1, most);
        } catch (Throwable failure) {
            options.sink().report("neededAtOnce() of an executor", failure);
            return 1;
        }
    }

    /** Notes how many permits a ticket must be for, so that any executor can use them. */
    private void noteSize(LocalGroup group) {
        int size = 0;
        for (Share share : group.shares) {
            size = share.wanted > 0 ? Math.max(size, neededAtOnce(group, share)) : size;
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
            Outcome outcome = grant(group, share, highestFence);
            if (outcome != Outcome.ACCEPTED) {
                share.local--;
            }
            if (outcome == Outcome.FAILED) {
                return;
            }
        }
    }

    /** What an executor did with a permit. */
    private enum Outcome {
        ACCEPTED,
        REFUSED,
        FAILED
    }

    private Outcome grant(LocalGroup group, Share share, long fence) {
        boolean isAccepted;
        try {
            isAccepted = share.holder.grantOnce(group.key, fence);
        } catch (Throwable failure) {
            options.sink().report("grantOnce() of an executor", failure);
            return Outcome.FAILED;
        }
        share.wanted = isAccepted ? share.wanted - 1 : 0;
        return isAccepted ? Outcome.ACCEPTED : Outcome.REFUSED;
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
        long waited = group.isMissing ? Math.max(0, now - group.missingSince) : 0;
        counters.acquired(permits, waited);
        String key = group.key;
        for (int i = 0; i < permits; i++) {
            notifier.postFrequent(listener -> listener.acquired(key, Duration.ofNanos(waited)));
        }
    }

    private void setRate(LocalGroup group, boolean hasRate) {
        if (hasRate && !group.hasRate) {
            group.unpaid = group.held;
        }
        group.hasRate = hasRate;
    }

    private void noteMissing(LocalGroup group) {
        group.missingCount = group.missing();
        boolean isMissing = group.missingCount > 0;
        if (isMissing && !group.isMissing) {
            group.missingSince = now();
        }
        group.isMissing = isMissing;
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
            tickBy(askMoment(group));
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
        if (isLookDue && now - lookAt >= 0) {
            lookAtGathering(now);
        }
        if (!isTickDue || now - nextTick < 0) {
            return;
        }
        isTickDue = false;
        for (LocalGroup group : List.copyOf(slices)) {
            if (now - group.sliceEnd >= 0) {
                endSlice(group, now);
            } else if (now - askMoment(group) < 0) {
                tickBy(askMoment(group));
            } else {
                ask(group);
                tickBy(group.sliceEnd);
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

    private void tickBy(long moment) {
        if (!isTickDue || moment - nextTick < 0) {
            nextTick = moment;
            isTickDue = true;
        }
    }

    private long askMoment(LocalGroup group) {
        return group.sliceEnd - slice / 4;
    }

    /** Returns the time until {@link #tick} has something to do, in nanoseconds. */
    long untilTick(long now) {
        long tick = isTickDue ? Math.max(0, nextTick - now) : Long.MAX_VALUE;
        return isLookDue ? Math.min(tick, Math.max(0, lookAt - now)) : tick;
    }

    // Tasks that cost several permits.

    private void noteGathering(LocalGroup group) {
        boolean mayGather = group.isYielding || (group.isMissing && group.held > group.pool);
        if (!mayGather) {
            gathering.remove(group);
        } else if (gathering.add(group)) {
            group.lastGrant = now();
            lookBy(group.lastGrant + patience);
        }
    }

    private void lookBy(long moment) {
        if (!isLookDue) {
            isLookDue = true;
            lookAt = moment;
        }
    }

    private void lookAtGathering(long now) {
        isLookDue = false;
        for (LocalGroup group : List.copyOf(gathering)) {
            if (group.isYielding && now - group.yieldEnd >= 0) {
                group.isYielding = false;
                gathering.remove(group);
                settle(group);
            } else if (!group.isYielding && now - (group.lastGrant + patience) >= 0) {
                gathering.remove(group);
                returnGathered(group, now);
                settle(group);
            }
        }
        if (!gathering.isEmpty()) {
            lookBy(now + patience / 4);
        }
    }

    /** Returns what executors have gathered for tasks that lack more, if they have. */
    private void returnGathered(LocalGroup group, long now) {
        for (Share share : group.shares) {
            PermitSource.Reclaimed gathered = gathered(group, share);
            int permits = takeBack(share, gathered);
            if (permits > 0) {
                group.stale -= Math.min(permits, group.stale);
                giveBack(group, permits, Math.min(permits, gathered.unused()));
                group.isYielding = true;
                group.yieldEnd =
                        now + patience / 2 + ThreadLocalRandom.current().nextLong(patience);
            }
        }
    }

    private PermitSource.Reclaimed gathered(LocalGroup group, Share share) {
        try {
            return share.holder.reclaimGathered(group.key);
        } catch (Throwable failure) {
            options.sink().report("reclaimGathered() of an executor", failure);
            return PermitSource.Reclaimed.NONE;
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

    private boolean hasOperation(LocalGroup group) {
        long need = group.need();
        return group.toReturn > 0
                || (need > 0 && group.tickets < window(group))
                || (need < 0 && group.tickets > 0)
                || (group.size != group.sizeAtServer && group.tickets > 0)
                || group.asksInfo
                || group.asksHolders
                || group.isReasserted;
    }

    private static int window(LocalGroup group) {
        return group.limit > 0 ? Math.min(group.limit, WINDOW) : WINDOW;
    }

    /** Adds what the server must be told and asked, as much as a call may contain. */
    void addOperations(Batch batch) {
        for (LocalGroup group; !batch.isFull() && (group = dirty.poll()) != null; ) {
            group.isDirty = false;
            addOperations(group, batch);
            forgetIfIdle(group);
        }
    }

    private void addOperations(LocalGroup group, Batch batch) {
        if (group.isReasserted) {
            group.isReasserted = false;
            group.tickets = 0;
            batch.reassert(group.name, group.held);
        } else if (group.toReturn > 0) {
            batch.giveBack(group.name, group.toReturn, group.toRefund);
        }
        group.toReturn = 0;
        group.toRefund = 0;
        long need = group.need();
        int more = Math.clamp(need, 0, Math.max(0, window(group) - group.tickets));
        if (more > 0 && !group.isResolved) {
            group.isResolved = true;
            resolve(group, batch);
        }
        if (more > 0 || (group.size != group.sizeAtServer && group.tickets > 0)) {
            batch.acquire(group.name, more, group.size);
            group.sizeAtServer = group.size;
            group.tickets += more; // until the answer
        }
        if (need < 0 && group.tickets > 0) {
            batch.cancel(group.name, (int) Math.min(-need, group.tickets));
        }
        if (group.asksInfo || group.asksHolders) {
            batch.ask(group.name, group.asksHolders);
        }
        group.asksInfo = false;
        group.asksHolders = false;
    }

    private void resolve(LocalGroup group, Batch batch) {
        try {
            String limit = options.resolveLimit(group.key);
            if (limit != null) {
                batch.resolve("l:" + group.name, limit);
            }
            String rate = options.resolveRate(group.key);
            if (rate != null) {
                batch.resolve("r:" + group.name, rate);
            }
        } catch (Throwable failure) {
            options.sink().report("resolver for group \"" + group.key + "\"", failure);
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
            group.shares.forEach(share -> limit(share, group));
        }
        List<PermitStatus.Holding> holders = answer.holders.get(info.group());
        if (holders != null || info.tickets() == 0) { // else the server has not counted those before
            group.position = info.position();
        }
        group.status =
                new PermitStatus(group.limit, group.position, holders != null ? holders : group.status.holders());
    }

    private void limit(Share share, LocalGroup group) {
        try {
            share.holder.limit(group.key, group.limit > 0 ? group.limit : RedisFleet.HIGHEST_LIMIT);
        } catch (Throwable failure) {
            options.sink().report("limit() of an executor", failure);
        }
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
                revoke(group, share, reason);
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

    private void revoke(LocalGroup group, Share share, String reason) {
        if (share.out > 0) {
            try {
                share.holder.revoke(group.key, share.out, reason);
            } catch (Throwable failure) {
                options.sink().report("revoke() of an executor", failure);
            }
        }
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
