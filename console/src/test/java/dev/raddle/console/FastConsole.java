package dev.raddle.console;

import java.time.Duration;

/** Starts consoles that sample almost without a rest, so that a test sees thousands of patches. */
public final class FastConsole {

    private FastConsole() {}

    /** Starts a console on a free port. */
    public static Console start() {
        return Console.start(ConsoleOptions.defaults().withPort(0), Duration.ofSeconds(10), Duration.ofMillis(1));
    }
}
