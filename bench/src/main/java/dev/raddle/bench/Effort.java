package dev.raddle.bench;

import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** How many iterations a fork has, and how long they are. */
enum Effort {
    /** As the benchmark declares them. */
    FULL(0, TimeValue.NONE),

    /** Fewer, for a comparison of some minutes. */
    QUICK(3, TimeValue.seconds(1)),

    /** One, which shows that the benchmark runs. */
    SHORT(1, TimeValue.milliseconds(200));

    private final int iterations;
    private final TimeValue length;

    Effort(int iterations, TimeValue length) {
        this.iterations = iterations;
        this.length = length;
    }

    /** Sets the iterations, unless they are those that the benchmark declares. */
    void shorten(ChainedOptionsBuilder options) {
        if (this != FULL) {
            options.warmupIterations(iterations)
                    .warmupTime(length)
                    .measurementIterations(iterations)
                    .measurementTime(length);
        }
    }

    /** Returns how often a disturbed fork is repeated. */
    int repeatsMax() {
        return this == FULL ? Forks.REPEATS_MAX : 0;
    }
}
