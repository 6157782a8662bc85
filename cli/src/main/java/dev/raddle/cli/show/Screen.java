package dev.raddle.cli.show;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;

/**
 * Scrolling text and, on a terminal, fixed lines below it that are redrawn. For one thread, except {@link #restore}.
 */
public final class Screen {
    private static final String HIDE_CURSOR = "\033[?25l";
    private static final String SHOW_CURSOR = "\033[?25h";
    /**
     * Does not erase from the first column: a terminal may move text to the scrollback if its whole screen is erased.
     */
    private static final String ERASE_BELOW = "\r\033[K \033[J\r\033[K";

    private static final String NO_WRAP = "\033[?7l";
    private static final String WRAP = "\033[?7h";

    /*
     * While there are fixed lines, the cursor is at the beginning of the first of them, not behind the last. A terminal
     * that becomes narrower may wrap the lines, so that they take more rows, or cut them, and a program cannot know
     * which; but it keeps the cursor at the same text. So erasing everything below the cursor is correct in both cases.
     */

    private final Console console;
    private List<AttributedString> bars = List.of();
    private volatile boolean cursorHidden;

    /** An action that writes to the same terminal by other means. */
    @FunctionalInterface
    interface WriteAction {
        void write() throws IOException;
    }

    public Screen(Console console) {
        this.console = console;
    }

    Console console() {
        return console;
    }

    void print(List<AttributedString> lines) throws IOException {
        StringBuilder text = new StringBuilder(erased());
        for (AttributedString line : lines) {
            text.append(console.ansi(line)).append('\n');
        }
        console.write(text.append(drawn()).toString());
    }

    /** Runs an action that writes at the position of the scrolling text. */
    void writeAside(WriteAction writing) throws IOException {
        if (bars.isEmpty()) {
            writing.write();
            return;
        }
        console.write(erased());
        writing.write();
        console.write(drawn());
    }

    /** Replaces the fixed lines. */
    void draw(List<AttributedString> lines) throws IOException {
        String erased = erased();
        String hidden = cursorHidden ? "" : HIDE_CURSOR;
        int width = console.columns() - 1; // a line that fills the last column may wrap
        List<AttributedString> fitting = new ArrayList<>();
        lines.forEach(line -> fitting.add(line.columnSubSequence(0, width)));
        bars = fitting;
        cursorHidden = true;
        console.write(hidden + erased + drawn());
    }

    private String erased() {
        return bars.isEmpty() ? "" : ERASE_BELOW;
    }

    private String drawn() {
        if (bars.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(NO_WRAP);
        for (int i = 0; i < bars.size(); i++) {
            text.append(i == 0 ? "" : "\n").append(console.ansi(bars.get(i)));
        }
        text.append(WRAP).append('\r');
        if (bars.size() > 1) {
            text.append("\033[").append(bars.size() - 1).append('A');
        }
        return text.toString();
    }

    /** Removes the fixed lines and shows the cursor again. */
    void clear() throws IOException {
        String erased = erased();
        bars = List.of();
        console.write(erased + (cursorHidden ? SHOW_CURSOR : ""));
        cursorHidden = false;
    }

    /** Shows the cursor again; called from any thread when the process is about to end. */
    public void restore() {
        if (cursorHidden) {
            try {
                console.write(ERASE_BELOW + SHOW_CURSOR);
            } catch (IOException e) {
                // the reader has closed the output, so the cursor does not matter
            }
        }
    }
}
