package dev.raddle.checks.sample.group;

import dev.raddle.checks.sample.time.EarlyRiser;
import java.util.function.LongSupplier;
import java.util.logging.Logger;

/** Breaks the rules of the architecture: closes a cycle, starts a thread, and uses more than {@code java.base}. */
public final class LateComer {

    public Thread come() {
        LongSupplier clock = System::nanoTime;
        return Thread.startVirtualThread(() -> Logger.getGlobal().info(EarlyRiser.last + " at " + clock.getAsLong()));
    }
}
