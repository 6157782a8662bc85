package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.WaitReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A gate with methods that acquire the lock as a caller does, and that check its invariants afterwards. */
final class TestGate extends Gate {

    /** The limits of a test gate. */
    record Limits(
            int concurrency,
            int maxInFlight,
            int maxWaiting,
            int weight,
            @Nullable RateLimit rate) implements Bounds {

        static final Limits UNKNOWN = new Limits(0, 0, Integer.MAX_VALUE, 0, null);

        static Limits of(int concurrency) {
            return new Limits(concurrency, Integer.MAX_VALUE, Integer.MAX_VALUE, 1, null);
        }

        Limits waiting(int max) {
            return new Limits(concurrency, maxInFlight, max, weight, rate);
        }

        Limits bulkhead(int max) {
            return new Limits(concurrency, max, maxWaiting, weight, rate);
        }

        Limits weight(int newWeight) {
            return new Limits(concurrency, maxInFlight, maxWaiting, newWeight, rate);
        }

        Limits rate(RateLimit newRate) {
            return new Limits(concurrency, maxInFlight, maxWaiting, weight, newRate);
        }
    }

    /** A permit with a name that records its slots and its grants. */
    static class Request extends Permit {
        final TestGate gate;
        final String name;
        final int cost;
        final int priority;
        int taken = 1;
        int grants;

        Request(TestGate gate, String name, int cost, int priority) {
            this.gate = gate;
            this.name = name;
            this.cost = cost;
            this.priority = priority;
        }

        @Override
        protected int cost() {
            return cost;
        }

        @Override
        protected int priority() {
            return priority;
        }

        @Override
        protected void taken(int slots) {
            taken = slots;
        }

        @Override
        protected int taken() {
            return taken;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final FairCap cap;
    private boolean lowered; // limits were lowered below the current load

    TestGate(FairCap cap, Limits limits) {
        super(limits, cap);
        this.cap = cap;
    }

    /** Creates a gate without a cap. */
    TestGate(Limits limits) {
        this(new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED), limits);
    }

    FairCap cap() {
        return cap;
    }

    @Override
    protected boolean owns(Permit permit) {
        return ((Request) permit).gate == this;
    }

    Request request(String name) {
        return new Request(this, name, 1, 0);
    }

    Request request(String name, int cost, int priority) {
        return new Request(this, name, cost, priority);
    }

    Entry tryEnter(Request request) {
        Entry entry;
        lock();
        try {
            entry = enter(request, GrantedPermits.NO_TIME);
        } finally {
            unlock();
        }
        if (entry == Entry.HELD) {
            request.grants++;
        }
        assertThat(serve(new GrantedPermits()))
                .as("entering grants no waiting permit")
                .isEmpty();
        return entry;
    }

    /** Enters without serving the cap. */
    Entry tryEnterWithoutServing(Request request) {
        lock();
        try {
            return enter(request, GrantedPermits.NO_TIME);
        } finally {
            unlock();
        }
    }

    /** Enters and serves the cap. Returns all permits that were granted. */
    List<Request> tryEnterAndServe(Request request) {
        GrantedPermits grants = new GrantedPermits();
        Entry entry;
        lock();
        try {
            entry = enter(request, GrantedPermits.NO_TIME);
        } finally {
            unlock();
        }
        List<Request> granted = new ArrayList<>();
        if (entry == Entry.HELD) {
            request.grants++;
            granted.add(request);
        }
        granted.addAll(serve(grants));
        return granted;
    }

    List<Request> release(Request request) {
        return release(request, 1_000_000);
    }

    List<Request> release(Request request, long ranNanos) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            leave(request, ranNanos, GrantedPermits.NO_TIME, grants);
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Request> withdrawWaiting(Request request) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            assertThat(withdraw(request, grants)).isTrue();
        } finally {
            unlock();
        }
        return serve(grants);
    }

    boolean tryWithdraw(Request request) {
        GrantedPermits grants = new GrantedPermits();
        boolean left;
        lock();
        try {
            left = withdraw(request, grants);
        } finally {
            unlock();
        }
        serve(grants);
        return left;
    }

    List<Request> setLimits(Limits limits) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            bind(limits, grants);
            lowered = running() > limits.slots() || waiting() > limits.maxWaiting();
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Request> bindFirstLimits(Limits limits, Map<Permit, Entry> refused) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            refused.putAll(bindEarly(limits, grants));
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Request> bindFirstLimits(Limits limits) {
        Map<Permit, Entry> refused = new HashMap<>();
        List<Request> granted = bindFirstLimits(limits, refused);
        assertThat(refused).isEmpty();
        return granted;
    }

    List<Request> setPaused(boolean pause) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            stop(PAUSED, pause, grants);
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Permit> drainAndUnbind() {
        List<Permit> drained = new ArrayList<>();
        lock();
        try {
            drain(drained::add);
            unbind(Limits.UNKNOWN);
        } finally {
            unlock();
        }
        return drained;
    }

    List<Request> recountAndServe() {
        lock();
        try {
            recount(new GrantedPermits());
        } finally {
            unlock();
        }
        return serve(new GrantedPermits());
    }

    /** Serves the cap until it grants no more permits, and checks the invariants. */
    List<Request> serve(GrantedPermits grants) {
        List<Request> granted = new ArrayList<>();
        boolean more;
        do {
            more = cap.serve(grants);
            for (Permit next; (next = grants.poll()) != null; ) {
                Request request = (Request) next;
                request.grants++;
                granted.add(request);
            }
        } while (more);
        check();
        return granted;
    }

    private void check() {
        lock();
        try { // called often, so messages are built only on failure
            int[] held = {0, 0};
            forEachHeld(permit -> {
                held[0] += ((Request) permit).taken;
                held[1] += isHeld(permit) && !isWaiting(permit) ? 0 : 1;
            });
            require(running() == held[0], "running is the sum of the slots of all held permits");
            require(held[1] == 0, "listed permits are held");
            require(
                    isEmpty() == (held[0] == 0 && waiting() == 0),
                    "a gate is empty if no permit is held and none waits");
            require(lowered || !isBound() || running() <= bounds().slots(), "running is at most the limit");
            require(lowered || !isBound() || waiting() <= bounds().maxWaiting(), "waiting is at most its limit");
            require(
                    cap.isActive() || !firstFits(GrantedPermits.NO_TIME),
                    "without a cap no permit waits while it fits");
            require(
                    !cap.isActive() || !firstFits(GrantedPermits.NO_TIME) || nextReady != null,
                    "a gate whose first permit fits is in the cap's line");
        } finally {
            unlock();
        }
    }

    private void require(boolean holds, String invariant) {
        if (!holds) {
            throw new AssertionError(
                    invariant + "; " + running() + " running, " + waiting() + " waiting, " + bounds() + ", " + cap);
        }
    }

    int slotsTaken() {
        return locked(() -> running());
    }

    int queued() {
        return locked(() -> waiting());
    }

    int position(Request request) {
        return locked(() -> ahead(request));
    }

    boolean holds(Request request) {
        return locked(() -> isHeld(request));
    }

    boolean isQueued(Request request) {
        return locked(() -> isWaiting(request));
    }

    boolean firstWaitsForCap() {
        return obstacle() == WaitReason.GLOBAL_CAP;
    }

    WaitReason obstacle() {
        return locked(() -> obstacle(GrantedPermits.NO_TIME));
    }

    WaitReason obstacleOf(Request request) {
        return locked(() -> obstacle(request, 0, GrantedPermits.NO_TIME));
    }

    boolean hasNoPermits() {
        return locked(() -> isEmpty());
    }

    Limits limits() {
        return locked(() -> (Limits) bounds());
    }

    boolean isStopped() {
        return locked(() -> isStopped(PAUSED));
    }

    List<Request> holders() {
        lock();
        try {
            List<Request> holders = new ArrayList<>();
            forEachHeld(permit -> holders.add((Request) permit));
            return holders;
        } finally {
            unlock();
        }
    }
}
