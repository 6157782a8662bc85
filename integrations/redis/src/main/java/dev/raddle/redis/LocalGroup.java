package dev.raddle.redis;

import dev.raddle.group.PermitStatus;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an instance holds and wants of one group. Owned by the pump. */
final class LocalGroup {

    private static final int WINDOW = 1024; // most tickets of an instance in a group, as in the script

    String key; // of a long one that no executor has used, the beginning and digest
    final String name; // the key, as the script reads it
    final List<Share> shares = new ArrayList<>(1);
    private int turn; // of the shares

    int held; // permits that the server will count after the next call: pool + what the shares have out
    int pool; // permits that no executor has
    int leastPool; // since the slice began
    int stale; // permits whose slice is over; they return to the server when the executor returns them
    int unpaid; // permits that were granted before the group had a rate
    int toReturn;
    int toRefund; // of those, permits that no task has used
    int tickets; // at the server
    int size = 1; // permits that a ticket should be for
    int sizeAtServer = 1; // of the tickets, if there are any
    int limit; // 0: none, or unknown
    boolean hasRate;
    boolean isContended; // other instances wait
    boolean isInformed; // of that, since the slice began
    boolean isAsked; // for that, since the slice began
    boolean isActive; // a permit was granted since the slice began
    boolean asksInfo;
    boolean asksHolders;
    boolean isResolved; // an entry was set if it was missing
    boolean isReasserted; // the next call states exactly what is held
    boolean isDirty; // in the list of groups for the next call
    long sliceEnd;
    long fence; // the highest that the server has granted
    private long nextFence; // of a permit that no task has used
    long lastGrant; // if it is in the list of groups that may gather permits
    Moment yieldEnd =
            Moment.NONE; // permits that were gathered in vain have been returned, and none is wanted until then
    Moment missingSince = Moment.NONE;
    long missingCount; // when the group was settled last
    int position;
    volatile PermitStatus status = PermitStatus.UNKNOWN;
    volatile boolean isWatched; // status was asked for since the last heartbeat

    LocalGroup(String key, String name) {
        this.key = key;
        this.name = name;
    }

    @Nullable
    Share find(FleetSession session) {
        for (Share share : shares) {
            if (share.session == session) {
                return share;
            }
        }
        return null;
    }

    Share share(FleetSession session) {
        Share found = find(session);
        if (found == null) {
            found = new Share(session);
            shares.add(found);
        }
        return found;
    }

    /** Returns the number of permits that all executors lack. */
    long missing() {
        long sum = 0;
        for (Share share : shares) {
            sum += share.wanted;
        }
        return sum;
    }

    /** Returns the next executor in turn that lacks a permit. */
    @Nullable
    Share nextMissing() {
        if (yieldEnd.isSet()) {
            return null;
        }
        for (int i = 0; i < shares.size(); i++) {
            turn = (turn + 1) % shares.size();
            if (shares.get(turn).wanted > 0) {
                return shares.get(turn);
            }
        }
        return null;
    }

    int local() {
        int sum = 0;
        for (Share share : shares) {
            sum += share.local;
        }
        return sum;
    }

    /** Adds permits that the server has granted, with fencing numbers that end with the given one. */
    void add(int permits, long lastFence) {
        held += permits;
        pool += permits;
        nextFence = Math.max(fence, lastFence - permits) + 1;
        fence = Math.max(fence, lastFence);
    }

    /** Returns the fencing number of the next use of a permit. Reuse within a slice repeats the highest. */
    long useFence() {
        return Math.min(nextFence++, fence);
    }

    /**
     * Returns the number of tickets that waiting tasks lack beyond those at the server; negative: there are too many.
     */
    long need() {
        return Math.ceilDiv((yieldEnd.isSet() ? 0 : missing()) - pool, size) - tickets;
    }

    /** Returns whether the next call concerns this group. */
    boolean hasOperation() {
        long need = need();
        return toReturn > 0
                || (need > 0 && tickets < window())
                || (need < 0 && tickets > 0)
                || (size != sizeAtServer && tickets > 0)
                || asksInfo
                || asksHolders
                || isReasserted;
    }

    private int window() {
        return limit > 0 ? Math.min(limit, WINDOW) : WINDOW;
    }

    /** Adds what the server must be told and asked. */
    void addOperations(Batch batch, FleetOptions options) {
        if (isReasserted) {
            isReasserted = false;
            tickets = 0;
            batch.reassert(name, held);
        } else if (toReturn > 0) {
            batch.giveBack(name, toReturn, toRefund);
        }
        toReturn = 0;
        toRefund = 0;
        long need = need();
        int more = Math.clamp(need, 0, Math.max(0, window() - tickets));
        if (more > 0 && !isResolved) {
            isResolved = true;
            resolve(batch, options);
        }
        if (more > 0 || (size != sizeAtServer && tickets > 0)) {
            batch.acquire(name, more, size);
            sizeAtServer = size;
            tickets += more; // until the answer
        }
        if (need < 0 && tickets > 0) {
            batch.cancel(name, (int) Math.min(-need, tickets));
        }
        if (asksInfo || asksHolders) {
            batch.ask(name, asksHolders);
        }
        asksInfo = false;
        asksHolders = false;
    }

    private void resolve(Batch batch, FleetOptions options) {
        try {
            String newLimit = options.resolveLimit(key);
            if (newLimit != null) {
                batch.resolve("l:" + name, newLimit);
            }
            String rate = options.resolveRate(key);
            if (rate != null) {
                batch.resolve("r:" + name, rate);
            }
        } catch (Throwable failure) {
            options.sink().report("resolver for group \"" + key + "\"", failure);
        }
    }

    boolean isIdle() {
        return held == 0 && tickets == 0 && toReturn == 0 && !isDirty && shares.isEmpty();
    }

    void forgetServer() {
        held = pool = leastPool = stale = unpaid = toReturn = toRefund = tickets = position = 0;
        isReasserted = false;
        yieldEnd = Moment.NONE;
        for (Share share : shares) {
            share.out = 0;
        }
    }
}
