package dev.raddle.cli.show;

import dev.raddle.cli.run.StandardStreams;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jline.terminal.Size;
import org.jline.terminal.spi.SystemStream;
import org.jline.terminal.spi.TerminalProvider;
import org.jline.utils.AttributedCharSequence;
import org.jline.utils.AttributedString;

/**
 * Standard output or standard error, and the properties of the terminal behind it. Unlike {@code System.out} it reports
 * when its reader has closed it.
 */
public final class Console implements AutoCloseable {
    private static final Size UNKNOWN = Size.of(80, 24);
    private static final int COLOURS = 8;

    private final OutputStream stream;
    private final Charset charset;
    private final boolean terminal;
    private final boolean colours;
    private final Supplier<Size> size;
    private final Runnable release;

    Console(
            OutputStream stream,
            Charset charset,
            boolean terminal,
            boolean colours,
            Supplier<Size> size,
            Runnable release) {
        this.stream = stream;
        this.charset = charset;
        this.terminal = terminal;
        this.colours = colours;
        this.size = size;
        this.release = release;
    }

    /** Returns standard output. */
    public static Console out(Map<String, String> environment) {
        return of(SystemStream.Output, FileDescriptor.out, "stdout.encoding", environment);
    }

    /** Returns standard error. */
    public static Console err(Map<String, String> environment) {
        return of(SystemStream.Error, FileDescriptor.err, "stderr.encoding", environment);
    }

    private static Console of(
            SystemStream which, FileDescriptor descriptor, String encoding, Map<String, String> environment) {
        Charset charset = Charset.forName(System.getProperty(encoding, "UTF-8"), StandardCharsets.UTF_8);
        String name = which == SystemStream.Output ? "standard output" : "standard error";
        boolean terminal = isTerminal(which, environment);
        OutputStream stream = StandardStreams.guarded(new FileOutputStream(descriptor), name, terminal);
        if (!terminal) {
            return new Console(stream, charset, false, false, () -> UNKNOWN, () -> {});
        }
        boolean colours = environment.getOrDefault("NO_COLOR", "").isEmpty();
        TerminalSize size = new TerminalSize(which);
        return new Console(stream, charset, true, colours, size, size::close);
    }

    private static boolean isTerminal(SystemStream which, Map<String, String> environment) {
        String type = environment.getOrDefault("TERM", "dumb");
        if (type.isEmpty() || type.equals("dumb")) {
            return false;
        }
        Optional<Boolean> known = StandardStreams.isTerminal(which == SystemStream.Output ? 1 : 2);
        if (known.isPresent()) {
            return known.get();
        }
        try {
            return TerminalProvider.load("exec").isSystemStream(which);
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    /** Returns whether the output is a terminal, on which the cursor can be moved. */
    public boolean isTerminal() {
        return terminal;
    }

    boolean canDrawBlocks() {
        return charset.equals(StandardCharsets.UTF_8);
    }

    int columns() {
        int columns = size.get().getColumns();
        return columns > 0 ? columns : UNKNOWN.getColumns();
    }

    int rows() {
        int rows = size.get().getRows();
        return rows > 0 ? rows : UNKNOWN.getRows();
    }

    /** Returns the text with escape sequences for colours, if colours are enabled. */
    String ansi(AttributedString text) {
        return colours ? text.toAnsi(COLOURS, AttributedCharSequence.ForceMode.None) : text.toString();
    }

    byte[] encoded(String text) {
        return text.getBytes(charset);
    }

    void write(String text) throws IOException {
        stream.write(encoded(text));
        stream.flush();
    }

    /** Returns the stream itself, for bytes that are not to be encoded. */
    OutputStream stream() {
        return stream;
    }

    @Override
    public void close() {
        release.run();
    }
}
