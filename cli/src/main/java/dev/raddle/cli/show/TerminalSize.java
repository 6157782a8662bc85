package dev.raddle.cli.show;

import java.io.IOException;
import java.util.function.Supplier;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.terminal.TerminalBuilder.SystemOutput;
import org.jline.terminal.spi.SystemStream;
import org.jline.utils.Signals;
import org.jspecify.annotations.Nullable;

/**
 * The size of a terminal, or zero if it is unknown. It is read only when needed, and again after the terminal signals a
 * change, because reading it starts a process. For one thread.
 */
final class TerminalSize implements Supplier<Size> {
    private static final String CHANGED = "WINCH";

    private final SystemStream stream;
    private @Nullable Terminal terminal;
    private @Nullable Object handler;
    private Size size = Size.of(0, 0);
    private volatile boolean changed = true;

    TerminalSize(SystemStream stream) {
        this.stream = stream;
    }

    @Override
    public Size get() {
        if (changed) {
            changed = false;
            try {
                size = terminal().getSize();
            } catch (IOException | IllegalStateException e) {
                size = Size.of(0, 0); // only layout depends on it
            }
        }
        return size;
    }

    private Terminal terminal() throws IOException {
        if (terminal == null) {
            // devTty: standard input may be a pipe. No probing: the terminal's answers would appear in the shell's
            // input.
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .provider("exec")
                    .devTty(true)
                    .graphemeCluster(false)
                    .nativeSignals(false)
                    .paused(true)
                    .dumb(true)
                    .systemOutput(stream == SystemStream.Output ? SystemOutput.SysOut : SystemOutput.SysErr)
                    .build();
            handler = Signals.register(CHANGED, () -> changed = true);
        }
        return terminal;
    }

    void close() {
        if (terminal != null) {
            Signals.unregister(CHANGED, handler);
            try {
                terminal.close();
            } catch (IOException e) {
                // nothing was changed on the terminal, so there is nothing to restore
            }
        }
    }
}
