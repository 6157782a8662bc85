package dev.raddle.group;

import dev.raddle.group.CalleeSimulation.Client;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Supplier;

/**
 * How near an adaptive limit comes to the best fixed one, in simulations. The best fixed limit is the smallest one with
 * the largest throughput: for a callee of c servers it is c. Its 99th percentile is that of the service times, ln 100
 * of them, because under that limit no call waits inside the callee.
 */
final class AdaptiveQuality {

    static final double[] LOADS = {0, 0.7, 0.9, 1.3}; // arrivals, as a part of the capacity; 0 for a queue without end
    private static final double BEST_P99 = StrictMath.log(100);

    private AdaptiveQuality() {}

    /** The worst of several simulations, relative to the best fixed limit. */
    record Step(double throughput, double p99) {
        Step worse(Step other) {
            return new Step(Math.min(throughput, other.throughput), Math.max(p99, other.p99));
        }
    }

    /** An algorithm with the callee that it is meant for. */
    record Subject(String name, Supplier<AdaptiveLimit> limit, boolean refuses) {
        /** Returns how many calls may wait in a callee of some servers. */
        int room(int servers) {
            return refuses ? servers / 2 : Integer.MAX_VALUE;
        }
    }

    static final Subject GRADIENT = new Subject("gradient", AdaptiveLimit::gradient, false);
    static final Subject VEGAS = new Subject("vegas", AdaptiveLimit::vegas, false);
    static final Subject AIMD = new Subject("aimd", AdaptiveLimit::aimd, true);

    /** Simulates a callee whose capacity halves after a minute and doubles after another; judges from 30 s on. */
    static Step steps(Subject subject, int servers, double serviceSeconds, double load, long seed) {
        DoubleUnaryOperator capacity = time -> time < 60 || time >= 120 ? servers : servers / 2;
        double arrivals = load * servers / serviceSeconds;
        Client client = new Client(subject.limit().get(), arrivals, 1_000);
        CalleeSimulation simulation =
                new CalleeSimulation(seed, time -> serviceSeconds, capacity, subject.room(servers), client);
        Step worst = new Step(Double.MAX_VALUE, 0);
        for (int minute = 0; minute < 3; minute++) {
            simulation.runUntil(60 * minute + 30);
            client.reset();
            simulation.runUntil(60 * minute + 60);
            double most = capacity.applyAsDouble(60 * minute) / serviceSeconds;
            double best = 30 * (load == 0 ? most : Math.min(most, arrivals));
            worst = worst.worse(new Step(client.ended / best, client.quantile(0.99) / BEST_P99));
        }
        return worst;
    }

    /** Where a limit was, relative to the best one, and the baseline, relative to the service time. */
    record Day(double outside, double lowest, double highest, double lowestBaseline, double highestBaseline) {
        Day worse(Day other) {
            return new Day(
                    Math.max(outside, other.outside),
                    Math.min(lowest, other.lowest),
                    Math.max(highest, other.highest),
                    Math.min(lowestBaseline, other.lowestBaseline),
                    Math.max(highestBaseline, other.highestBaseline));
        }
    }

    /** Simulates a day in which the service time rises and falls by two fifths; looks each minute. */
    static Day day(Subject subject, int servers, double serviceSeconds, long seed) {
        DoubleUnaryOperator service = time -> serviceSeconds * (1 + 0.4 * StrictMath.sin(time * 2 * Math.PI / 86_400));
        Client client = Client.saturated(subject.limit().get());
        CalleeSimulation simulation =
                new CalleeSimulation(seed, service, time -> servers, subject.room(servers), client);
        simulation.runUntil(300);
        Day day = new Day(0, Double.MAX_VALUE, 0, Double.MAX_VALUE, 0);
        int outside = 0;
        int minutes = 24 * 60 - 5;
        for (int minute = 0; minute < minutes; minute++) {
            simulation.runUntil(simulation.now + 60);
            double limit = (double) client.adaptation.steady() / servers;
            double baseline = client.adaptation.baselineNanos() / 1e9 / service.applyAsDouble(simulation.now);
            outside += limit < 0.75 || limit > 1.25 ? 1 : 0;
            day = day.worse(new Day(0, limit, limit, baseline, baseline));
        }
        return day.worse(new Day((double) outside / minutes, 1, 1, 1, 1));
    }

    /** Simulates two groups with one callee for an hour; returns the smaller share divided by the larger one. */
    static double shares(Subject subject, int servers, double serviceSeconds, int initial, int other, long seed) {
        Client one = Client.saturated(subject.limit().get().initial(initial));
        Client two = Client.saturated(subject.limit().get().initial(other));
        CalleeSimulation simulation =
                new CalleeSimulation(seed, time -> serviceSeconds, time -> servers, subject.room(servers), one, two);
        simulation.runUntil(300);
        one.reset();
        two.reset();
        simulation.runUntil(3_900);
        return (double) Math.min(one.ended, two.ended) / Math.max(one.ended, two.ended);
    }
}
