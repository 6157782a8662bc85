package dev.raddle.redis;

import dev.raddle.task.Rate;
import java.math.BigInteger;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Writes rates as the script reads them, and back: "cost drain burst count seconds nanos". */
final class Rates {

    /*
     * A task costs `cost` units, `drain` units flow out of the bucket in 1 us: the period in ns and 1000 times the
     * count,
     * divided by their greatest common divisor. The script computes in doubles, so burst * cost must stay well below
     * 2^53. If it does not, which takes long periods, the time of one task is rounded up to whole us: the rate is then
     * lower, by less than 1 us in the time between two starts.
     */

    private static final BigInteger LARGEST = BigInteger.ONE.shiftLeft(51);

    private Rates() {}

    static String write(Rate rate) {
        if (rate.isStrict()) {
            throw new IllegalArgumentException("a fleet has no strict rates, was " + rate
                    + "; set a rate of half the count, which never starts more in a period, or limit each instance by"
                    + " perGroupRate");
        }
        BigInteger nanos = BigInteger.valueOf(rate.period().toSeconds())
                .multiply(BigInteger.valueOf(1_000_000_000))
                .add(BigInteger.valueOf(rate.period().toNanosPart()));
        BigInteger drain = BigInteger.valueOf(1000L * rate.count());
        BigInteger divisor = nanos.gcd(drain);
        BigInteger cost = nanos.divide(divisor);
        drain = drain.divide(divisor);
        BigInteger burst = BigInteger.valueOf(rate.burst());
        if (cost.multiply(burst).compareTo(LARGEST) > 0) {
            cost = cost.add(drain).subtract(BigInteger.ONE).divide(drain);
            drain = BigInteger.ONE;
        }
        if (cost.multiply(burst).compareTo(LARGEST) > 0) {
            throw new IllegalArgumentException("burst of " + rate.burst() + " at " + rate
                    + " takes more than 71 years to flow in; use a smaller burst");
        }
        return cost + " " + drain + " " + burst + " " + rate.count() + " "
                + rate.period().toSeconds() + " " + rate.period().toNanosPart();
    }

    static @Nullable Rate read(@Nullable String text) {
        if (text == null) {
            return null;
        }
        try {
            String[] parts = text.split(" ", -1);
            Duration period = Duration.ofSeconds(Long.parseLong(parts[4]), Long.parseLong(parts[5]));
            return Rate.of(Integer.parseInt(parts[3]), period).burst(Integer.parseInt(parts[2]));
        } catch (RuntimeException malformed) {
            throw new FleetException("a rate in the namespace is malformed: \"" + text + "\"", malformed);
        }
    }
}
