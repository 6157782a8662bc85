package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.redis.FaultPlan.Fault;
import dev.raddle.redis.FaultPlan.Step;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three processes, a real server and every fault once. The limits hold, the fleet continues after each fault, and
 * no permit is lost. {@code -Draddle.seed=N} replays the faults of a run; {@code ./dev soak fleet} runs them for a
 * long time.
 */
class FleetFaultTest {
    private static final Duration LEASE = Duration.ofMillis(500);

    static List<ServerKind> olderKinds() {
        return ServerKind.all().stream()
                .filter(kind -> !kind.equals(ServerKind.newest()))
                .toList();
    }

    private static long seed() {
        String given = System.getProperty("raddle.seed");
        return given == null ? RandomGenerator.getDefault().nextInt(1_000_000) : Long.parseLong(given);
    }

    @Test
    void limits_hold_whatever_fails() {
        run(ServerKind.newest(), EnumSet.allOf(Fault.class));
    }

    @ParameterizedTest(allowZeroInvocations = true) // ServerKind prints which servers are missing
    @MethodSource("olderKinds")
    void limits_hold_on_other_servers_too(ServerKind kind) {
        run(
                kind,
                EnumSet.of(
                        Fault.KILL_WORKER, Fault.EMPTY_SERVER, Fault.FLUSH_SCRIPTS, Fault.FAILOVER, Fault.REPEAT_CALL));
    }

    private static void run(ServerKind kind, EnumSet<Fault> faults) {
        FleetSetup setup = FleetSetup.standard(kind, seed(), LEASE).withSlice(Duration.ofMillis(20));
        FaultPlan plan = new FaultPlan(setup.seed(), faults, setup.workers());
        System.out.println("seed " + setup.seed());
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            fleet.awaitProgress("the start");
            for (int i = 0; i < faults.size(); i++) {
                Step step = plan.next();
                System.out.println(step);
                fleet.inject(step);
                fleet.awaitProgress(step.toString());
            }
            fleet.idle();
            fleet.awaitAllPermitsBack();
            fleet.exit();
            System.out.println(fleet.report());
            assertThat(fleet.judge().violations()).as(fleet.report()).isZero();
            assertThat(fleet.permitsAtServer()).isZero();
        }
    }
}
