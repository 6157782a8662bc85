package dev.raddle.cli.show;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jline.terminal.Size;

/** A console whose output a test reads. */
final class TestConsole {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Console console;

    private TestConsole(boolean terminal, boolean colours, int columns, int rows) {
        console = new Console(bytes, StandardCharsets.UTF_8, terminal, colours, () -> Size.of(columns, rows), () -> {});
    }

    static TestConsole file() {
        return new TestConsole(false, false, 80, 24);
    }

    static TestConsole terminal(int columns, int rows) {
        return new TestConsole(true, false, columns, rows);
    }

    static TestConsole colourTerminal() {
        return new TestConsole(true, true, 120, 24);
    }

    /** Creates a console on a terminal whose size changes. */
    static Console on(TerminalEmulator emulator, Supplier<Size> size) {
        return new Console(emulator, StandardCharsets.UTF_8, true, false, size, () -> {});
    }

    Console console() {
        return console;
    }

    /** Returns everything that was written. */
    String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** Returns the final content of an unlimited screen. */
    String seen() {
        return TerminalEmulator.screen(text());
    }
}
