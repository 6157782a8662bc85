package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jline.utils.Signals;

/**
 * Turns signals into stops: the first asks every process to end, or lets it if the signal is SIGTERM, the second kills
 * them, the third gives up at once.
 *
 * <p>A shutdown hook would come too late: it runs when the exit code is already decided. So the signals are handled, and
 * the JVM ends in the ordinary way when the run has ended.
 */
final class Interrupts {
    private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP");

    private final Map<String, Object> previous = new LinkedHashMap<>();
    private final AtomicInteger received = new AtomicInteger();
    private final Stop stop;
    private final Runnable lastWords;

    /** Handles signals from now on; {@code lastWords} is called before giving up. */
    Interrupts(Stop stop, Runnable lastWords) {
        this.stop = stop;
        this.lastWords = lastWords;
        for (String signal : SIGNALS) {
            Object handler = Signals.register(signal, () -> received(signal));
            if (handler != null) {
                previous.put(signal, handler);
            }
        }
    }

    private void received(String signal) {
        switch (received.incrementAndGet()) {
            case 1 -> {
                if (signal.equals("TERM")) {
                    stop.drain();
                } else {
                    stop.request(Stop.Reason.INTERRUPTED);
                }
            }
            case 2 -> stop.kill();
            default -> {
                lastWords.run();
                Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
            }
        }
    }

    /** Leaves signals to who handled them before. */
    void close() {
        previous.forEach(Signals::unregister);
    }
}
