package dev.raddle.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;

/** Draws faults from a seed: the same seed gives the same faults in the same order, with the same victims. */
final class FaultPlan {

    /** What can go wrong. */
    enum Fault {
        /** A worker is killed, and another one starts. */
        KILL_WORKER,
        /** A worker does not run for longer than its lease, then continues. */
        STOP_WORKER,
        /** The server is killed and comes back with its data. */
        RESTART_SERVER,
        /** The server is killed and comes back without data. */
        EMPTY_SERVER,
        /** The server does not run for longer than the leases, then continues. */
        STOP_SERVER,
        /** One key of the fleet is gone, as after an eviction. */
        LOSE_KEY,
        /** The server forgets its scripts and functions. */
        FLUSH_SCRIPTS,
        /** The server is killed and its replica takes over. */
        FAILOVER,
        /** The connections of a worker break. */
        CUT,
        /** A worker cannot reach the server for longer than its lease. */
        REFUSE,
        /** The server's answers to a worker are held back for longer than its lease. */
        SILENCE_ANSWERS,
        /** A worker's calls are held back for longer than its lease. */
        SILENCE_CALLS,
        /** An answer breaks off half way. */
        HALF_ANSWER,
        /** A call breaks off half way. */
        HALF_CALL,
        /** A call, or half of it, reaches the server twice, and the connection breaks. */
        REPEAT_CALL,
        /** Everything that a worker sends or receives is late. */
        DELAY
    }

    /**
     * One fault.
     *
     * @param fault what
     * @param worker the number of the victim
     * @param size from 0 to 100, the size of the fault
     */
    record Step(Fault fault, int worker, int size) {
        @Override
        public String toString() {
            return fault + " of worker " + worker + ", size " + size;
        }
    }

    private final Random random;
    private final EnumSet<Fault> faults;
    private final int workers;
    private final List<Fault> round = new ArrayList<>();

    FaultPlan(long seed, EnumSet<Fault> faults, int workers) {
        random = new Random(seed);
        this.faults = faults;
        this.workers = workers;
    }

    /** Returns the next step. Each round has every fault once. */
    Step next() {
        if (round.isEmpty()) {
            round.addAll(faults);
            Collections.shuffle(round, random);
        }
        return new Step(round.removeLast(), random.nextInt(workers), random.nextInt(101));
    }
}
