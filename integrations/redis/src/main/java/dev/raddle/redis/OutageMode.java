package dev.raddle.redis;

/**
 * What an instance grants while it cannot reach the server, the server's answers make no sense, or it has lost data. An
 * outage begins when the instance's lease has ended without an answer, or the server has lost data of the namespace or
 * was replaced. It ends when the server grants permits again.
 *
 * {@snippet :
 * FleetOptions options = FleetOptions.builder().outageMode(OutageMode.local(2)).build();
 * }
 */
public sealed interface OutageMode {

    /**
     * Returns the mode in which no task starts during an outage. Waiting tasks wait, and their queue timeouts run. The
     * default, and the only mode in which the limits hold during an outage.
     *
     * @return the mode
     */
    static OutageMode closed() {
        return new Closed();
    }

    /**
     * Returns the mode in which each instance has some permits of its own for each group during an outage. The fleet
     * then runs at most this many tasks of a group times the number of instances, whatever its limit is.
     *
     * @param permits the number of permits for each group and instance, at least 1
     * @return the mode
     * @throws IllegalArgumentException if it is less than 1
     */
    static OutageMode local(int permits) {
        return new Local(permits);
    }

    /**
     * Returns the mode in which only the limits of the executor's own policy apply during an outage.
     *
     * @return the mode
     */
    static OutageMode open() {
        return new Open();
    }

    /** No task starts. */
    record Closed() implements OutageMode {
        @Override
        public String toString() {
            return "closed";
        }
    }

    /**
     * Each instance has permits of its own.
     *
     * @param permits the number of permits for each group, at least 1
     */
    record Local(int permits) implements OutageMode {
        /** Checks the number. */
        public Local {
            if (permits < 1) {
                throw new IllegalArgumentException("permits must be at least 1, was " + permits);
            }
        }

        @Override
        public String toString() {
            return "local(" + permits + ")";
        }
    }

    /** The fleet does not limit. */
    record Open() implements OutageMode {
        @Override
        public String toString() {
            return "open";
        }
    }
}
