package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.Await;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of permits with the processes that hold them, and their next holders. */
class FleetLeaseTest {
    private static final int GROUP = 0;
    private static final int OTHER_GROUP = 1;

    private static FleetSetup setup(Duration lease) {
        return FleetSetup.standard(ServerKind.newest(), 1, lease)
                .withWorkers(2, 1)
                .withLimits(List.of(1, 1), 2);
    }

    @Test
    void the_permit_of_a_killed_process_comes_back_when_its_lease_has_ended() {
        Duration lease = Duration.ofSeconds(1);
        try (TestFleet fleet = TestFleet.start(setup(lease))) {
            fleet.warmUp(OTHER_GROUP);
            fleet.worker(0).send("hold 0");
            fleet.await(0, "entered");
            fleet.worker(1).send("hold 0");
            fleet.kill(0);
            long killed = System.nanoTime();
            long entered = FleetWorker.momentOf(fleet.await(1, "entered"));
            fleet.judge().judgeUntil(System.nanoTime());
            System.out.printf(
                    Locale.ROOT,
                    "%s: permit of a killed process back after %.2f leases of %d ms, longest stall %d ms%n",
                    fleet.server().kind(),
                    (entered - killed) / (double) lease.toNanos(),
                    lease.toMillis(),
                    fleet.judge().longestStall().toMillis());
            assertThat(fleet.judge().violations()).isZero();
        }
    }

    /*
     * The lease is long, so what the server counts for the process is what it held when it was stopped. The others have
     * a backlog, and complete hundreds of tasks with the permits that are left.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_a_killed_or_stopped_process_holds_does_not_grow(boolean isKilled) {
        int limit = 12;
        FleetSetup setup = FleetSetup.standard(ServerKind.newest(), 1, Duration.ofSeconds(12))
                .withWorkers(4, 16)
                .withLimits(List.of(limit), limit)
                .withTaskMicros(1_000);
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            fleet.awaitProgress("the start");
            if (isKilled) {
                fleet.worker(0).kill();
            } else {
                fleet.worker(0).stop();
            }
            mostHeldWhileOthersRun(fleet, 200); // its last call may be under way
            long atFirst = fleet.heldBy(0);

            assertThat(mostHeldWhileOthersRun(fleet, 2_000)).isEqualTo(atFirst).isLessThan(limit);
            if (!isKilled) {
                fleet.worker(0).proceed();
            }
        }
    }

    private static long mostHeldWhileOthersRun(TestFleet fleet, int tasks) {
        long most = 0;
        long goal = tasksOfOthers(fleet) + tasks;
        while (tasksOfOthers(fleet) < goal) {
            most = Math.max(most, fleet.heldBy(0));
        }
        return most;
    }

    private static long tasksOfOthers(TestFleet fleet) {
        return fleet.file().tasks(1) + fleet.file().tasks(2) + fleet.file().tasks(3);
    }

    @Test
    void a_live_process_keeps_its_permit_for_many_leases() {
        Duration lease = Duration.ofSeconds(1);
        try (TestFleet fleet = TestFleet.start(setup(lease))) {
            fleet.warmUp(OTHER_GROUP);
            fleet.worker(0).send("hold 0");
            fleet.await(0, "entered");
            fleet.worker(1).send("hold 0");
            Await.pass(lease.multipliedBy(3));
            boolean stalled = fleet.judge().longestStall().compareTo(lease.dividedBy(20)) > 0;
            System.out.println("longest stall " + fleet.judge().longestStall().toMillis() + " ms");
            assertThat(fleet.file().running(GROUP) == 1 && fleet.file().peak(GROUP) == 1 || stalled)
                    .isTrue();
            fleet.worker(0).send("drop");
            if (!stalled) {
                fleet.await(0, "dropped");
            }
            fleet.await(1, "entered");
        }
    }

    /*
     * The one case in which more than the limit runs: a process that is stopped within a task. Its fencing number
     * is lower than that of the next holder, so what the task writes to can refuse it.
     */
    @Test
    void a_process_that_was_stopped_within_a_task_finds_its_permit_granted_again() {
        try (TestFleet fleet = TestFleet.start(setup(Duration.ofMillis(500)))) {
            fleet.warmUp(OTHER_GROUP);
            fleet.worker(0).send("hold 0");
            long firstFence = FleetWorker.fenceOf(fleet.await(0, "entered"));
            fleet.worker(1).send("hold 0");
            fleet.worker(0).stop();
            long secondFence = FleetWorker.fenceOf(fleet.await(1, "entered"));
            assertThat(fleet.file().peak(GROUP)).isEqualTo(2); // beyond the limit of 1
            assertThat(secondFence).isGreaterThan(firstFence);

            fleet.worker(0).proceed();
            fleet.await(0, "interrupted");
            fleet.worker(1).send("drop");
            fleet.await(1, "dropped");
            fleet.judge().judgeUntil(System.nanoTime());
            assertThat(fleet.judge().violations()).isZero();
            assertThat(fleet.judge().late()).isPositive();
        }
    }

    @Test
    void a_released_permit_reaches_the_process_that_waits_for_it() {
        try (TestFleet fleet = TestFleet.start(setup(Duration.ofSeconds(3)))) {
            fleet.warmUp(OTHER_GROUP);
            int holder = 0;
            fleet.worker(holder).send("hold 0");
            fleet.await(holder, "entered");
            long[] nanos = new long[50];
            for (int i = 0; i < nanos.length; i++) {
                int waiter = 1 - holder;
                fleet.worker(waiter).send("hold 0");
                fleet.worker(holder).send("drop");
                long dropped = FleetWorker.momentOf(fleet.await(holder, "dropped"));
                nanos[i] = FleetWorker.momentOf(fleet.await(waiter, "entered")) - dropped;
                holder = waiter;
            }
            long[] sorted = IntStream.range(0, nanos.length)
                    .mapToLong(i -> nanos[i])
                    .sorted()
                    .toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%s: a released permit runs in another process after p50 %.2f ms, max %.2f ms%n",
                    fleet.server().kind(),
                    sorted[sorted.length / 2] / 1e6,
                    sorted[sorted.length - 1] / 1e6);
        }
    }

    @Test
    void no_thread_of_a_busy_fleet_starves() {
        int threads = 22;
        FleetSetup setup = FleetSetup.standard(ServerKind.newest(), 1, Duration.ofSeconds(3))
                .withWorkers(3, threads)
                .withLimits(List.of(4, 4, 4, 4), 8)
                .withTaskMicros(1_000);
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            Await.until(() -> "every thread has run 100 tasks" + fleet.state(), () -> slowest(fleet, threads) >= 100);
            fleet.idle();
            System.out.printf(
                    Locale.ROOT,
                    "%s: slowest : fastest of %d threads in 3 processes = %d : %d tasks%n",
                    setup.kind(),
                    3 * threads,
                    slowest(fleet, threads),
                    tasks(fleet, threads).max().orElseThrow());
        }
    }

    private static long slowest(TestFleet fleet, int threads) {
        return tasks(fleet, threads).min().orElseThrow();
    }

    private static LongStream tasks(TestFleet fleet, int threads) {
        return IntStream.range(0, 3 * threads).mapToLong(i -> fleet.file().tasksOfThread(i / threads, i % threads));
    }
}
