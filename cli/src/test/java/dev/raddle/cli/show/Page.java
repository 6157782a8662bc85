package dev.raddle.cli.show;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jline.terminal.Size;

/** A console that a test reads. */
final class Page {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Console console;

    private Page(boolean terminal, boolean colours, int columns, int rows) {
        console = new Console(bytes, StandardCharsets.UTF_8, terminal, colours, () -> Size.of(columns, rows), () -> {});
    }

    static Page file() {
        return new Page(false, false, 80, 24);
    }

    static Page terminal(int columns, int rows) {
        return new Page(true, false, columns, rows);
    }

    static Page colourTerminal() {
        return new Page(true, true, 120, 24);
    }

    /** A console on a terminal whose size changes. */
    static Console on(Emulator emulator, Supplier<Size> size) {
        return new Console(emulator, StandardCharsets.UTF_8, true, false, size, () -> {});
    }

    Console console() {
        return console;
    }

    /** Everything that was written. */
    String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    /** What a person sees in the end, who has a screen without limits. */
    String seen() {
        return Emulator.screen(text());
    }
}
