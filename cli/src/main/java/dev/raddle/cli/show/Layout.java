package dev.raddle.cli.show;

import dev.raddle.cli.file.Printable;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jline.utils.AttributedString;

/**
 * Where the columns of the bars stand. The narrower a terminal, the less is shown: first the columns move together, then speed and
 * end are left out, then the bar, then the words become short. The counts stay.
 *
 * @param nameWidth how wide the names are
 * @param barWidth how wide the bars are; 0 if there is no room for any
 * @param widths how wide each {@link Column} is, with the space before it; 0 if it is not shown
 * @param wording how the counts are named
 * @param blocks whether block characters can be drawn
 */
record Layout(int nameWidth, int barWidth, Map<Column, Integer> widths, Wording wording, boolean blocks) {
    private static final int LEAST_NAME = 5;
    private static final int LONGEST_NAME = 24;
    private static final int LEAST_BAR = 8;
    private static final int MOST_BAR = 30;
    private static final int GAP = 2;

    /** What stands behind the bar, from left to right. */
    enum Column {
        PROGRESS(11),
        RUNNING(12),
        WAITING(14),
        FAILED(13),
        CANCELLED(14),
        SPEED(9),
        END(12);

        private final int usualWidth;

        Column(int usualWidth) {
            this.usualWidth = usualWidth;
        }

        boolean isCount() {
            return this != SPEED && this != END;
        }
    }

    /** How counts are named. */
    enum Wording {
        LONG(" running", " waiting", " failed", " cancelled"),
        SHORT(" run", " wait", " fail", " cancel"),
        LETTERS("r", "w", "f", "c");

        private final String running;
        private final String waiting;
        private final String failed;
        private final String cancelled;

        Wording(String running, String waiting, String failed, String cancelled) {
            this.running = running;
            this.waiting = waiting;
            this.failed = failed;
            this.cancelled = cancelled;
        }

        String running(long count) {
            return count + running;
        }

        String waiting(long count) {
            return count + waiting;
        }

        /** Nothing for none: what went wrong shall catch the eye. */
        String failed(long count) {
            return count == 0 ? "" : count + failed;
        }

        String cancelled(long count) {
            return count == 0 ? "" : count + cancelled;
        }
    }

    /** A layout for a terminal and the bars that it must show. */
    static Layout of(int columns, Collection<Bar> bars, long now, boolean blocks) {
        int name = nameWidth(bars);
        Map<Column, Integer> usual = usual(bars, now);
        if (name + GAP + LEAST_BAR + sum(usual) <= columns) {
            return new Layout(name, barFor(columns - name - GAP - sum(usual)), usual, Wording.LONG, blocks);
        }
        int room = columns - 1; // a line that fills the last column may wrap
        for (boolean all : List.of(true, false)) {
            Map<Column, Integer> widths = tight(bars, Wording.LONG, all, GAP, now);
            int bar = room - name - GAP - sum(widths);
            if (bar >= LEAST_BAR) {
                return new Layout(name, barFor(bar), widths, Wording.LONG, blocks);
            }
        }
        for (Wording wording : Wording.values()) {
            int gap = wording == Wording.LONG ? GAP : 1;
            Map<Column, Integer> widths = tight(bars, wording, false, gap, now);
            int left = room - sum(widths);
            if (left >= Math.min(name, LEAST_BAR) || wording == Wording.LETTERS) {
                return new Layout(Math.clamp(left, 1, name), 0, widths, wording, blocks);
            }
        }
        throw new IllegalStateException("the last wording is taken in any case");
    }

    private static int nameWidth(Collection<Bar> bars) {
        int widest = LEAST_NAME;
        for (Bar bar : bars) {
            widest = Math.max(widest, new AttributedString(Printable.oneLine(bar.name())).columnLength());
        }
        return Math.min(widest, LONGEST_NAME);
    }

    private static int barFor(int room) {
        return Math.clamp(room, LEAST_BAR, MOST_BAR);
    }

    private static int sum(Map<Column, Integer> widths) {
        return widths.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Widths that numbers of a usual size do not change, so that the columns stand still. */
    private static Map<Column, Integer> usual(Collection<Bar> bars, long now) {
        Map<Column, Integer> tight = tight(bars, Wording.LONG, true, 1, now);
        Map<Column, Integer> widths = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            int least = tight.getOrDefault(column, 0);
            boolean absent = column == Column.CANCELLED && least == 0;
            widths.put(
                    column, absent ? 0 : column == Column.END ? column.usualWidth : Math.max(least, column.usualWidth));
        }
        return widths;
    }

    private static Map<Column, Integer> tight(Collection<Bar> bars, Wording wording, boolean all, int gap, long now) {
        Map<Column, Integer> widths = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            int widest = 0;
            if (all || column.isCount()) {
                for (Bar bar : bars) {
                    widest = Math.max(widest, bar.text(column, wording, now).length());
                }
            }
            widths.put(column, widest == 0 ? 0 : widest + gap);
        }
        return widths;
    }

    /** Whether there is no room for words. */
    boolean isNarrow() {
        return wording != Wording.LONG;
    }

    AttributedString name(String name) {
        AttributedString shown = cut(name, nameWidth);
        return AttributedString.join(
                AttributedString.EMPTY,
                shown,
                new AttributedString(" ".repeat(Math.max(0, nameWidth - shown.columnLength()))));
    }

    /** A text on one line of at most so many columns. */
    AttributedString cut(String text, int columns) {
        AttributedString printable = new AttributedString(Printable.oneLine(text));
        return printable.columnLength() <= columns
                ? printable
                : AttributedString.join(
                        AttributedString.EMPTY,
                        printable.columnSubSequence(0, Math.max(0, columns - 1)),
                        new AttributedString(blocks ? "…" : "~"));
    }

    /** A text at the right of its column, or at the left in the last. */
    String placed(Column column, String text) {
        int width = widths.getOrDefault(column, 0);
        if (width == 0) {
            return "";
        }
        if (column == Column.END) {
            return text.isEmpty() ? "" : " ".repeat(GAP) + text;
        }
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
