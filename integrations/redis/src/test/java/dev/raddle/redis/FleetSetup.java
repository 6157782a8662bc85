package dev.raddle.redis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * What a fleet under test looks like.
 *
 * @param kind the server
 * @param seed the seed of faults and load
 * @param lease the lease of each worker
 * @param slice the slice of each worker but the first, which has none
 * @param workers the number of processes
 * @param threads the number of threads of each
 * @param limits the limits of the groups
 * @param cap the limit of all groups together
 * @param taskMicros the time that a task takes
 * @param patches directories whose resources replace those of the module, in all workers
 * @param frozenClock whether the first worker ignores the time
 */
record FleetSetup(
        ServerKind kind,
        long seed,
        Duration lease,
        Duration slice,
        int workers,
        int threads,
        List<Integer> limits,
        int cap,
        int taskMicros,
        List<Path> patches,
        boolean frozenClock) {

    /** Three processes of 32 threads, on 24 groups with limits from 1 to 4 under a cap of 20, without slices. */
    static FleetSetup standard(ServerKind kind, long seed, Duration lease) {
        Integer[] limits = new Integer[24];
        Arrays.setAll(limits, group -> 1 + group % 4);
        return new FleetSetup(kind, seed, lease, Duration.ZERO, 3, 32, List.of(limits), 20, 200, List.of(), false);
    }

    FleetSetup withSlice(Duration newSlice) {
        return new FleetSetup(
                kind, seed, lease, newSlice, workers, threads, limits, cap, taskMicros, patches, frozenClock);
    }

    FleetSetup withWorkers(int newWorkers, int newThreads) {
        return new FleetSetup(
                kind, seed, lease, slice, newWorkers, newThreads, limits, cap, taskMicros, patches, frozenClock);
    }

    FleetSetup withLimits(List<Integer> newLimits, int newCap) {
        return new FleetSetup(
                kind, seed, lease, slice, workers, threads, newLimits, newCap, taskMicros, patches, frozenClock);
    }

    FleetSetup withTaskMicros(int micros) {
        return new FleetSetup(kind, seed, lease, slice, workers, threads, limits, cap, micros, patches, frozenClock);
    }

    FleetSetup withPatch(Path directory) {
        return new FleetSetup(
                kind, seed, lease, slice, workers, threads, limits, cap, taskMicros, List.of(directory), frozenClock);
    }

    FleetSetup withFrozenClock() {
        return new FleetSetup(kind, seed, lease, slice, workers, threads, limits, cap, taskMicros, patches, true);
    }
}
