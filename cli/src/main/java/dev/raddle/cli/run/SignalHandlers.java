package dev.raddle.cli.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jline.utils.Signals;
import org.jspecify.annotations.Nullable;

/**
 * Turns signals into stops: the first signal terminates all processes, or starts a drain if it is SIGTERM; the second
 * kills them; the third ends this process immediately. Signals that are not sent twice on purpose only terminate: a
 * limit of CPU time sends one each second. SIGUSR1 lists what runs.
 *
 * <p>A shutdown hook would run too late, when the exit code is already decided. So the signals are handled, and the JVM
 * exits normally when the run has ended; or by the signal, so that a shell's loop around it ends as well.
 */
public final class SignalHandlers implements AutoCloseable {
    private static final int SIGINT = 2;
    private static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /** Other signals that end a process which does not handle them, and so would leave the commands behind. */
    private static final Map<String, Integer> OTHERS = others();

    private static final String LIST = "USR1";
    private static final String SUSPEND = "TSTP";

    private final Map<String, Object> previous = new LinkedHashMap<>();
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicReference<@Nullable String> first = new AtomicReference<>();
    private final Stop stop;
    private final RunScreen screen;
    private final EventLoop events;

    /** Installs the handlers of signals that were not ignored when this process was started. */
    SignalHandlers(Stop stop, RunScreen screen, EventLoop events) {
        this.stop = stop;
        this.screen = screen;
        this.events = events;
        ENDING.forEach(signal -> register(signal, () -> received(signal)));
        OTHERS.keySet().forEach(signal -> register(signal, () -> stop(signal)));
        register(LIST, () -> events.runLater(screen::list));
        if (screen.isLive() && Posix.get() != null) {
            register(SUSPEND, () -> events.runLater(this::suspend));
        }
    }

    /** Makes SIGINT end this process as a signal does, while no run handles it. The JVM would exit with its number. */
    public static void endByInterrupt() {
        Signals.register("INT", () -> ExitCode.exit(ExitCode.diesOf(SIGINT)));
    }

    private static Map<String, Integer> others() {
        Map<String, Integer> signals = new LinkedHashMap<>(Map.of("ALRM", 14, "XCPU", 24, "VTALRM", 26, "PROF", 27));
        if (!System.getProperty("os.name", "").startsWith("Mac")) {
            signals.putAll(Map.of("IO", 29, "PWR", 30, "STKFLT", 16));
        }
        return signals;
    }

    private void register(String signal, Runnable action) {
        Object handler = Signals.register(signal, action);
        if (isIgnored(handler)) {
            Signals.unregister(signal, handler);
        } else if (handler != null) {
            previous.putIfAbsent(signal, handler);
        }
    }

    private static boolean isIgnored(@Nullable Object handler) { // which may be a proxy that only handles
        try {
            Class<?> handlers = Class.forName("sun.misc.SignalHandler");
            return handlers.getField("SIG_IGN").get(null).equals(handler);
        } catch (ReflectiveOperationException e) {
            return false; // without this class there are no handlers either
        }
    }

    private void received(String signal) {
        switch (received.incrementAndGet()) {
            case 1 -> {
                if (signal.equals("TERM")) {
                    first.compareAndSet(null, signal);
                    stop.drain();
                } else {
                    stop(signal);
                }
            }
            case 2 -> stop.kill();
            default -> {
                screen.restore();
                Posix posix = signal.equals("INT") ? Posix.get() : null;
                if (posix != null) {
                    posix.takeDefault(SIGINT);
                }
                Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
            }
        }
    }

    private void stop(String signal) {
        first.compareAndSet(null, signal);
        stop.request(Stop.Reason.INTERRUPTED);
    }

    /** Stops this process as the terminal demands, in the thread that draws. Returns when it continues. */
    private void suspend() {
        screen.pause();
        Posix posix = Posix.get();
        if (posix != null) {
            posix.takeDefault(Posix.SIGTSTP);
        }
        register(SUSPEND, () -> events.runLater(this::suspend));
    }

    /** Returns the signal of which this process is to die when the run that it has interrupted has ended, or 0. */
    int deadly() {
        String signal = first.get();
        return signal == null ? 0 : signal.equals("INT") ? SIGINT : OTHERS.getOrDefault(signal, 0);
    }

    /** Restores the previous handlers. */
    @Override
    public void close() {
        previous.forEach(Signals::unregister);
    }
}
