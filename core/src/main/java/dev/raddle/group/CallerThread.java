package dev.raddle.group;

import dev.raddle.time.Signal;

/**
 * The caller that executes a run in its own thread: a grant wakes the caller and starts no thread.
 *
 * <p>The caller waits until the run is granted or settled. If it is interrupted first, it withdraws the run; in real
 * time also if the queue timeout or the time limit passes first, so it needs no timer. If the run was granted at the
 * moment of the interrupt or of its timeout, no other thread would release its permit. The caller does so by running
 * the run, which is decided then and only releases its permit. A thread that ends a call from outside withdraws it
 * first, so a settled call that does not hold its permit will never hold it.
 *
 * @param isTryCall true for {@code tryCall}, which ignores the rejection policy and its handler
 * @param grantedOrSettled the signal for which the caller waits
 */
record CallerThread(boolean isTryCall, Signal grantedOrSettled) implements Origin {

    CallerThread(boolean isTryCall) {
        this(isTryCall, new Signal());
    }
}
