package dev.raddle.redis;

import dev.raddle.processes.Await;
import dev.raddle.redis.TestFleet.Kept;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * What an observer outside sees of a fleet: it reads the server's keys and the file in which the tasks count
 * themselves, and asks no instance.
 */
final class FleetProofs {
    private static final int TRIES = 3;
    private static final int OUTAGES = 5;
    private static final int LIMIT = 12;
    private static final int NO_CAP = 1_000;
    private static final Duration LOOK_EVERY = Duration.ofMillis(20);
    private static final Duration SETTLE = Duration.ofSeconds(1);
    private static final Duration MEASURED = Duration.ofSeconds(5);

    private FleetProofs() {}

    private static FleetSetup oneGroup(FleetSetup setup, int workers, int taskMillis) {
        return setup.withWorkers(workers, 32)
                .withLimits(List.of(LIMIT), NO_CAP)
                .withTaskMicros(taskMillis * 1_000)
                .withSlice(Duration.ZERO);
    }

    /**
     * Kills and stops one of four instances that all have a backlog.
     *
     * @return whether it never held more than after its last call, and was reserved nothing after two heartbeats
     */
    static boolean loseInstances(FleetSetup setup) {
        int taskMillis = 50;
        boolean good = true;
        try (TestFleet fleet = TestFleet.start(oneGroup(setup, 4, taskMillis))) {
            fleet.load();
            for (int i = 0; i < TRIES; i++) {
                fleet.awaitProgress("the start");
                printAll(fleet, taskMillis);
                fleet.kill(i);
                good &= watch(fleet, i, "kill -9", taskMillis);
                fleet.replace(i);
                fleet.load(i, 1, 1);

                fleet.awaitProgress("the kill");
                printAll(fleet, taskMillis);
                fleet.worker(i).stop();
                good &= watch(fleet, i, "SIGSTOP", taskMillis);
                fleet.worker(i).proceed();
            }
            fleet.awaitProgress("the stop");
            fleet.idle();
            fleet.awaitAllPermitsBack();
            fleet.exit();
            print("violations %d %s", fleet.judge().violations(), fleet.judge().firstViolations());
            return good && fleet.judge().violations() == 0;
        }
    }

    /** Prints what all instances do before a fault: how busy the machine is. */
    private static void printAll(TestFleet fleet, int taskMillis) {
        Await.pass(SETTLE);
        long begin = System.nanoTime();
        long before = fleet.tasks();
        Await.pass(MEASURED.dividedBy(2));
        double rate = (fleet.tasks() - before) * 1e9 / (System.nanoTime() - begin);
        double goal = LIMIT * 1e3 / taskMillis;
        print("all four ended %.0f of %.0f tasks/s (%.2f)", rate, goal, rate / goal);
    }

    private static boolean watch(TestFleet fleet, int lost, String how, int taskMillis) {
        long lostAt = System.nanoTime();
        long silent = lostAt + fleet.lease().toNanos() * 2 / 5; // two heartbeats, and time for a call of another
        Kept first = fleet.keptFor(lost); // as of its last call
        boolean grows = false;
        long most = 0; // of the silent
        long begin = 0;
        long before = 0;
        long end = 0;
        long after = 0;
        for (Kept kept; (kept = fleet.keptFor(lost)).calls() > 0; Await.pass(LOOK_EVERY)) {
            if (kept.calls() > first.calls()) { // was under way
                first = kept;
            }
            grows |= kept.held() > first.held();
            if (System.nanoTime() - silent >= 0) {
                most = Math.max(most, kept.held() + kept.offered());
                end = System.nanoTime();
                after = tasksOfOthers(fleet, lost);
                if (begin == 0) {
                    begin = end;
                    before = after;
                }
            }
        }
        grows |= most > first.held();
        double rate = (after - before) * 1e9 / (end - begin);
        double goal = (LIMIT - first.held()) * 1e3 / taskMillis;
        print(
                "%s: held %d of %d, after two heartbeats at most %d%s;"
                        + " the others ended %.0f of %.0f tasks/s (%.2f); gone after %d ms",
                how,
                first.held(),
                LIMIT,
                most,
                grows ? ", GROWS" : "",
                rate,
                goal,
                rate / goal,
                (end - lostAt) / 1_000_000);
        return !grows;
    }

    private static long tasksOfOthers(TestFleet fleet, int lost) {
        return IntStream.range(0, 4)
                .filter(i -> i != lost)
                .mapToLong(fleet.file()::tasks)
                .sum();
    }

    /** Compares one instance with two whose tasks take two or three permits. */
    static void compareCosts(FleetSetup setup) {
        try (TestFleet fleet = TestFleet.start(oneGroup(setup, 2, 20))) {
            for (int i = 0; i < TRIES; i++) {
                fleet.load(0, 2, 3);
                double alone = rates(fleet)[0];
                fleet.idle();
                fleet.load(0, 2, 3);
                fleet.load(1, 2, 3);
                double[] both = rates(fleet);
                fleet.idle();
                print(
                        "cost 2 to 3: one instance %.0f tasks/s, two %.0f + %.0f (%.2f)",
                        alone, both[0], both[1], (both[0] + both[1]) / alone);
            }
            fleet.exit();
            print("violations %d %s", fleet.judge().violations(), fleet.judge().firstViolations());
        }
    }

    private static double[] rates(TestFleet fleet) {
        Await.pass(SETTLE);
        long begin = System.nanoTime();
        long[] before = {fleet.file().tasks(0), fleet.file().tasks(1)};
        Await.pass(MEASURED);
        double seconds = (System.nanoTime() - begin) / 1e9;
        return new double[] {
            (fleet.file().tasks(0) - before[0]) / seconds, (fleet.file().tasks(1) - before[1]) / seconds
        };
    }

    /** Measures the time from the return of the network to the first grant. */
    static void recover(FleetSetup setup) {
        try (TestFleet fleet = TestFleet.start(oneGroup(setup, 1, 20))) {
            fleet.warmUp(0);
            FaultProxy proxy = fleet.proxy(0);
            for (int percent : new int[] {50, 200}) { // of a lease
                Duration outage = setup.lease().multipliedBy(percent).dividedBy(100);
                for (int i = 0; i < OUTAGES; i++) {
                    recover(fleet, "connections refused", outage, proxy::refuse, proxy::accept);
                    recover(
                            fleet,
                            "bytes held back",
                            outage,
                            () -> List.of(FaultProxy.Direction.values()).forEach(proxy::silence),
                            () -> List.of(FaultProxy.Direction.values()).forEach(proxy::forward));
                }
            }
            fleet.exit();
        }
    }

    private static void recover(TestFleet fleet, String how, Duration outage, Runnable cut, Runnable mend) {
        long outages = fleet.file().outages(0);
        cut.run();
        fleet.worker(0).send("hold 0");
        Await.pass(outage);
        boolean leaseLost = fleet.file().outages(0) > outages;
        long back = System.nanoTime();
        mend.run();
        long granted = FleetWorker.momentOf(fleet.await(0, "entered"));
        print(
                "%s for %d ms, lease %s: a grant after %d ms",
                how, outage.toMillis(), leaseLost ? "lost" : "kept", (granted - back) / 1_000_000);
        fleet.worker(0).send("drop");
        fleet.worker(0).await("dropped");
        Await.pass(SETTLE);
    }

    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
