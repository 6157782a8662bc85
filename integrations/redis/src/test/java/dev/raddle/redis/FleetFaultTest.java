package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.redis.FaultPlan.Fault;
import dev.raddle.redis.FaultPlan.Step;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Three processes, a real server and every fault once. The limits hold, the fleet continues after each fault, and no permit
 * is lost. {@code -Draddle.seed=N} replays the faults of a run; {@code ./dev soak fleet} runs them for a long time.
 */
class FleetFaultTest {
    private static final Duration LEASE = Duration.ofMillis(500);

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    private static long seed() {
        String given = System.getProperty("raddle.seed");
        return given == null ? RandomGenerator.getDefault().nextInt(1_000_000) : Long.parseLong(given);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void limits_hold_whatever_fails(ServerKind kind) {
        FleetSetup setup = FleetSetup.standard(kind, seed(), LEASE).withSlice(Duration.ofMillis(20));
        FaultPlan plan = new FaultPlan(setup.seed(), EnumSet.allOf(Fault.class), setup.workers());
        System.out.println("seed " + setup.seed());
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            fleet.awaitProgress("the start");
            for (int i = 0; i < Fault.values().length; i++) {
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
