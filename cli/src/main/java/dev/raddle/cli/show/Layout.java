package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Printable;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jline.utils.AttributedString;

/**
 * The columns of the bars. With decreasing width of the terminal, first the gaps between the columns shrink, then speed
 * and remaining time are omitted, then the bar, then the words are shortened. The counts are always shown.
 *
 * @param nameWidth the width of the names
 * @param barWidth the width of the bars; 0 if they do not fit
 * @param widths the width of each {@link Column}, including the space before it; 0 if it is not shown
 * @param wording the labels of the counts
 * @param blocks whether block characters can be drawn
 */
record Layout(int nameWidth, int barWidth, Map<Column, Integer> widths, Wording wording, boolean blocks) {
    private static final int MIN_NAME = 5;
    private static final int MAX_NAME = 24;
    private static final int MIN_BAR = 8;
    private static final int MAX_BAR = 30;
    private static final int GAP = 2;

    /** The columns after the bar, from left to right. */
    enum Column {
        PROGRESS(11),
        RUNNING(12),
        WAITING(14),
        FAILED(13),
        CANCELLED(14),
        SPEED(9),
        END(12);

        private final int defaultWidth;

        Column(int defaultWidth) {
            this.defaultWidth = defaultWidth;
        }

        boolean isCount() {
            return this != SPEED && this != END;
        }
    }

    /** The labels of the counts. */
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

        /** Returns an empty text for zero, so that failures stand out. */
        String failed(long count) {
            return count == 0 ? "" : count + failed;
        }

        String cancelled(long count) {
            return count == 0 ? "" : count + cancelled;
        }
    }

    /** Returns a layout for a terminal and the bars to show. */
    static Layout of(int columns, Collection<Bar> bars, long now, boolean blocks) {
        int name = nameWidth(bars);
        Map<Column, Integer> stable = stable(bars, now);
        if (name + GAP + MIN_BAR + sum(stable) <= columns) {
            return new Layout(name, barFor(columns - name - GAP - sum(stable)), stable, Wording.LONG, blocks);
        }
        int available = columns - 1; // a line that fills the last column may wrap
        for (boolean all : List.of(true, false)) {
            Map<Column, Integer> widths = minimal(bars, Wording.LONG, all, GAP, now);
            int bar = available - name - GAP - sum(widths);
            if (bar >= MIN_BAR) {
                return new Layout(name, barFor(bar), widths, Wording.LONG, blocks);
            }
        }
        for (Wording wording : Wording.values()) {
            int gap = wording == Wording.LONG ? GAP : 1;
            Map<Column, Integer> widths = minimal(bars, wording, false, gap, now);
            int left = available - sum(widths);
            if (left >= Math.min(name, MIN_BAR) || wording == Wording.LETTERS) {
                return new Layout(Math.clamp(left, 1, name), 0, widths, wording, blocks);
            }
        }
        throw new IllegalStateException("the last wording is taken in any case");
    }

    private static int nameWidth(Collection<Bar> bars) {
        int widest = MIN_NAME;
        for (Bar bar : bars) {
            widest = Math.max(widest, new AttributedString(Printable.oneLine(bar.name())).columnLength());
        }
        return Math.min(widest, MAX_NAME);
    }

    private static int barFor(int available) {
        return Math.clamp(available, MIN_BAR, MAX_BAR);
    }

    private static int sum(Map<Column, Integer> widths) {
        return widths.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Returns widths that do not change with numbers of a usual size, so that the columns do not move. */
    private static Map<Column, Integer> stable(Collection<Bar> bars, long now) {
        Map<Column, Integer> minimal = minimal(bars, Wording.LONG, true, 1, now);
        Map<Column, Integer> widths = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            int min = minimal.getOrDefault(column, 0);
            boolean absent = column == Column.CANCELLED && min == 0;
            widths.put(
                    column,
                    absent ? 0 : column == Column.END ? column.defaultWidth : Math.max(min, column.defaultWidth));
        }
        return widths;
    }

    private static Map<Column, Integer> minimal(Collection<Bar> bars, Wording wording, boolean all, int gap, long now) {
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

    /** Returns whether there is no space for words. */
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

    /** Returns a text on one line of at most {@code columns} columns. */
    AttributedString cut(String text, int columns) {
        AttributedString printable = new AttributedString(Printable.oneLine(text));
        return printable.columnLength() <= columns
                ? printable
                : AttributedString.join(
                        AttributedString.EMPTY,
                        printable.columnSubSequence(0, Math.max(0, columns - 1)),
                        new AttributedString(blocks ? "…" : "~"));
    }

    /** Returns a text right-aligned in its column, or left-aligned in the last column. */
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
