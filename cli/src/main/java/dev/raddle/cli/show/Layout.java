package dev.raddle.cli.show;

import dev.raddle.cli.file.Printable;
import org.jline.utils.AttributedString;

/**
 * Where the columns of the bars stand.
 *
 * @param nameWidth how wide the names are
 * @param barWidth how wide the bars are
 * @param blocks whether block characters can be drawn
 */
record Layout(int nameWidth, int barWidth, boolean blocks) {
    private static final int NUMBERS = 73;
    private static final int LONGEST_NAME = 24;
    private static final int LEAST_BAR = 8;
    private static final int MOST_BAR = 30;

    /** A layout for a terminal and the names that it must show. */
    static Layout of(int columns, Iterable<String> names, boolean blocks) {
        int widest = 5;
        for (String name : names) {
            widest = Math.max(widest, new AttributedString(Printable.oneLine(name)).columnLength());
        }
        int nameWidth = Math.min(widest, LONGEST_NAME);
        return new Layout(nameWidth, Math.clamp(columns - nameWidth - NUMBERS, LEAST_BAR, MOST_BAR), blocks);
    }

    AttributedString name(String name) {
        AttributedString printable = new AttributedString(Printable.oneLine(name));
        AttributedString shown = printable.columnLength() <= nameWidth
                ? printable
                : AttributedString.join(
                        AttributedString.EMPTY,
                        printable.columnSubSequence(0, nameWidth - 1),
                        new AttributedString(blocks ? "…" : "~"));
        return AttributedString.join(
                AttributedString.EMPTY,
                shown,
                new AttributedString(" ".repeat(Math.max(0, nameWidth - shown.columnLength()))));
    }

    /** A text at the right of its column. */
    String number(String text, int width) {
        return " ".repeat(Math.max(text.isEmpty() ? 0 : 1, width - text.length())) + text;
    }

    String full() {
        return blocks ? "█" : "#";
    }

    String begun() {
        return blocks ? "▒" : "+";
    }

    String empty() {
        return blocks ? "░" : ".";
    }
}
