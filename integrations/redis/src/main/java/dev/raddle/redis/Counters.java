package dev.raddle.redis;

/** Counts of an instance. Only the pump writes. */
@SuppressWarnings("NonAtomicVolatileUpdate")
final class Counters {

    volatile long acquired;
    volatile long acquireNanos;
    volatile long lost;
    volatile int leases;
    volatile long calls;
    volatile boolean backendUp;

    void acquired(int permits, long nanosEach) {
        acquired += permits;
        acquireNanos += permits * nanosEach;
    }

    void lost(int permits) {
        lost += permits;
    }

    void hold(int change) {
        leases += change;
    }

    void called() {
        calls++;
    }
}
