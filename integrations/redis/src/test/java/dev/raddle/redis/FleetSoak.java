package dev.raddle.redis;

import dev.raddle.processes.Await;
import dev.raddle.redis.FaultPlan.Fault;
import dev.raddle.redis.FaultPlan.Step;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A long run of a fleet with faults, for {@code ./dev soak fleet}.
 *
 * <p>Arguments: {@code numbers} for the proofs alone, or the minutes, 30 if left out; a seed; the lease in
 * milliseconds, 3000 if left out.
 */
final class FleetSoak {
    private static final int REPORTS = 10;

    private FleetSoak() {}

    public static void main(String[] arguments) {
        if (arguments.length > 0 && arguments[0].equals("numbers")) {
            FleetSetup setup = FleetSetup.standard(ServerKind.all().getFirst(), 1, Duration.ofSeconds(3));
            boolean good = FleetProofs.loseInstances(setup);
            FleetProofs.compareCosts(setup);
            FleetProofs.recover(setup);
            System.exit(good ? 0 : 1);
        }
        int minutes = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 30;
        long seed = arguments.length > 1
                ? Long.parseLong(arguments[1])
                : RandomGenerator.getDefault().nextInt(1_000_000);
        int lease = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 3_000;
        List<ServerKind> kinds = ServerKind.all();
        boolean good = true;
        for (ServerKind kind : kinds) {
            FleetSetup setup = FleetSetup.standard(kind, seed, Duration.ofMillis(lease));
            good &= FleetProofs.loseInstances(setup);
            good &= run(setup, Duration.ofMinutes(minutes).dividedBy(kinds.size()));
        }
        System.exit(good ? 0 : 1);
    }

    private static boolean run(FleetSetup setup, Duration length) {
        System.out.println("seed " + setup.seed() + ", " + setup.kind() + ", " + length.toSeconds() + " s");
        FaultPlan plan = new FaultPlan(setup.seed(), EnumSet.allOf(Fault.class), setup.workers());
        try (TestFleet fleet = TestFleet.start(setup)) {
            fleet.load();
            fleet.awaitProgress("the start");
            injectFor(length, fleet, plan);
            fleet.idle();
            fleet.awaitAllPermitsBack();
            fleet.exit();
            System.out.println(fleet.report());
            System.out.println(fleet.permitsAtServer() + " permits left");
            return fleet.judge().violations() == 0 && fleet.permitsAtServer() == 0;
        }
    }

    /** Injects faults with a pause of undisturbed load after each. */
    private static void injectFor(Duration length, TestFleet fleet, FaultPlan plan) {
        long begin = System.nanoTime();
        long reported = 0;
        for (long passed; (passed = System.nanoTime() - begin) < length.toNanos(); ) {
            Step step = plan.next();
            System.out.println(passed / 1_000_000_000 + " s: " + step + ", " + fleet.grants() + " grants, "
                    + fleet.judge().violations() + " violations");
            fleet.inject(step);
            fleet.awaitProgress(step.toString());
            Await.pass(Duration.ofSeconds(3));
            if (passed > length.toNanos() / REPORTS * (reported + 1)) {
                reported++;
                System.out.println(fleet.report());
            }
        }
    }
}
