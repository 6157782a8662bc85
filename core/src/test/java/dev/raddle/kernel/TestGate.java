package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A gate whose steps are done as a caller does them, and which holds its invariants after each. */
final class TestGate extends Gate {

    /** Limits that a test may spell out. */
    record Limits(int concurrency, int maxInFlight, int maxWaiting, int weight) implements Bounds {

        static final Limits UNKNOWN = new Limits(0, 0, Integer.MAX_VALUE, 0);

        static Limits of(int concurrency) {
            return new Limits(concurrency, Integer.MAX_VALUE, Integer.MAX_VALUE, 1);
        }

        Limits waiting(int most) {
            return new Limits(concurrency, maxInFlight, most, weight);
        }

        Limits bulkhead(int most) {
            return new Limits(concurrency, most, maxWaiting, weight);
        }

        Limits weight(int share) {
            return new Limits(concurrency, maxInFlight, maxWaiting, share);
        }
    }

    /** A permit with a name, and what became of it. */
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
    private boolean lowered; // limits were lowered below what runs

    TestGate(FairCap cap, Limits limits) {
        super(limits);
        this.cap = cap;
    }

    /** A gate without a cap. */
    TestGate(Limits limits) {
        this(new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED), limits);
    }

    @Override
    protected FairCap cap() {
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

    Entry ask(Request request) {
        Entry entry;
        lock();
        try {
            entry = enter(request);
        } finally {
            unlock();
        }
        if (entry == Entry.HELD) {
            request.grants++;
        }
        assertThat(serve(new GrantedPermits()))
                .as("entering makes no waiter's turn come")
                .isEmpty();
        return entry;
    }

    /** Enters and does not let the cap serve yet. */
    Entry askOnly(Request request) {
        lock();
        try {
            return enter(request);
        } finally {
            unlock();
        }
    }

    /** Enters; returns what was granted, this request or others. */
    List<Request> askAndServe(Request request) {
        GrantedPermits grants = new GrantedPermits();
        Entry entry;
        lock();
        try {
            entry = enter(request);
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

    List<Request> giveBack(Request request) {
        return giveBack(request, 1_000_000);
    }

    List<Request> giveBack(Request request, long ranNanos) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            leave(request, ranNanos, grants);
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Request> abandon(Request request) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            assertThat(withdraw(request, grants)).isTrue();
        } finally {
            unlock();
        }
        return serve(grants);
    }

    boolean tryAbandon(Request request) {
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

    List<Request> limit(Limits limits) {
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

    List<Request> settleOn(Limits limits, Map<Permit, Entry> refused) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            bindEarly(limits, grants, refused);
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Request> settleOn(Limits limits) {
        Map<Permit, Entry> refused = new HashMap<>();
        List<Request> granted = settleOn(limits, refused);
        assertThat(refused).isEmpty();
        return granted;
    }

    List<Request> paused(boolean pause) {
        GrantedPermits grants = new GrantedPermits();
        lock();
        try {
            pause(pause, grants);
        } finally {
            unlock();
        }
        return serve(grants);
    }

    List<Permit> forget() {
        List<Permit> drained;
        lock();
        try {
            drained = drain();
            unbind(Limits.UNKNOWN);
        } finally {
            unlock();
        }
        return drained;
    }

    List<Request> count() {
        lock();
        try {
            recount();
        } finally {
            unlock();
        }
        return serve(new GrantedPermits());
    }

    /** Lets the cap serve until it has no more to give, and checks the invariants. */
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
        try { // often, so without building messages
            int[] held = {0, 0};
            forEachHeld(permit -> {
                held[0] += ((Request) permit).taken;
                held[1] += isHeld(permit) && !isWaiting(permit) ? 0 : 1;
            });
            require(running() == held[0], "slots taken are those of all held permits");
            require(held[1] == 0, "permits in the list of the held are held");
            require(
                    isEmpty() == (held[0] == 0 && waiting() == 0),
                    "a gate is empty if nothing is held and nobody waits");
            require(lowered || !isBound() || running() <= bounds().slots(), "no more runs than may");
            require(lowered || !isBound() || waiting() <= bounds().maxWaiting(), "no more waits than may");
            require(cap.isActive() || !firstFits(), "without a cap nobody waits beside a free slot");
            require(!cap.isActive() || !firstFits() || nextReady != null, "the cap knows a gate whose first fits");
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

    int place(Request request) {
        return locked(() -> ahead(request));
    }

    boolean has(Request request) {
        return locked(() -> isHeld(request));
    }

    boolean queues(Request request) {
        return locked(() -> isWaiting(request));
    }

    boolean firstWaitsForCap() {
        return locked(() -> waitsForCap());
    }

    boolean nothingHere() {
        return locked(() -> isEmpty());
    }

    Limits limits() {
        return locked(() -> (Limits) bounds());
    }

    boolean stopped() {
        return locked(() -> isPaused());
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
