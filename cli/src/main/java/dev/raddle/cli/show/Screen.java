package dev.raddle.cli.show;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;

/**
 * Text that scrolls by, and below it, on a terminal, lines that stay and are drawn anew. For one thread, but for
 * {@link #restore}.
 */
public final class Screen {
    private static final String HIDE_CURSOR = "\033[?25l";
    private static final String SHOW_CURSOR = "\033[?25h";
    /** Not from the first column: a terminal that is told to erase all of its screen may take that into what scrolls by. */
    private static final String ERASE_BELOW = "\r\033[K \033[J\r\033[K";

    private static final String NO_WRAP = "\033[?7l";
    private static final String WRAP = "\033[?7h";

    /*
     * While lines stay, the cursor rests at the beginning of the first of them, not behind the last. A terminal that becomes narrower
     * may break lines anew, so that they take more rows, or cut them, and nobody knows which; but it keeps the cursor at the text
     * where it was. So from there down all is to be erased, whatever became of the lines.
     */

    private final Console console;
    private List<AttributedString> bars = List.of();
    private volatile boolean cursorHidden;

    /** Something that writes elsewhere to the same terminal. */
    @FunctionalInterface
    interface Writing {
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

    /** Lets something else write where the scrolling text stands. */
    void aside(Writing writing) throws IOException {
        if (bars.isEmpty()) {
            writing.write();
            return;
        }
        console.write(erased());
        writing.write();
        console.write(drawn());
    }

    /** Replaces the lines that stay. */
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

    /** Takes the lines that stay away and gives the cursor back. */
    void clear() throws IOException {
        String erased = erased();
        bars = List.of();
        console.write(erased + (cursorHidden ? SHOW_CURSOR : ""));
        cursorHidden = false;
    }

    /** Gives the cursor back from any thread, when the process is about to end. */
    public void restore() {
        if (cursorHidden) {
            try {
                console.write(ERASE_BELOW + SHOW_CURSOR);
            } catch (IOException e) {
                // nobody reads any more, so nobody misses the cursor
            }
        }
    }
}
