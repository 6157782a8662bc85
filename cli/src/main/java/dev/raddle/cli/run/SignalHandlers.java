package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jline.utils.Signals;

/**
 * Turns signals into stops: the first signal terminates all processes, or starts a drain if it is SIGTERM; the second
 * kills them; the third ends this process immediately.
 *
 * <p>A shutdown hook would run too late, when the exit code is already decided. So the signals are handled, and the JVM
 * exits normally when the run has ended.
 */
final class SignalHandlers {
    private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP");

    private final Map<String, Object> previous = new LinkedHashMap<>();
    private final AtomicInteger received = new AtomicInteger();
    private final Stop stop;
    private final Runnable beforeHalt;

    /** Installs the signal handlers; {@code beforeHalt} is called before the process ends immediately. */
    SignalHandlers(Stop stop, Runnable beforeHalt) {
        this.stop = stop;
        this.beforeHalt = beforeHalt;
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
                beforeHalt.run();
                Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
            }
        }
    }

    /** Restores the previous signal handlers. */
    void close() {
        previous.forEach(Signals::unregister);
    }
}
