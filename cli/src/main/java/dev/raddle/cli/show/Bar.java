package dev.raddle.cli.show;

import dev.raddle.cli.run.TaskResult;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** The state of one group, or of all, and the line that shows it. */
final class Bar {
    private final String name;
    private final Rate rate;
    private final Set<String> running = new HashSet<>();
    private long expected;
    private long queued;
    private long succeeded;
    private long failed; // including rejected tasks
    private long cancelled;

    Bar(String name, long now) {
        this.name = name;
        this.rate = new Rate(now);
    }

    /** Sets the expected number of tasks, if it is known before they are queued. */
    void expect(long tasks) {
        expected = tasks;
    }

    void queued() {
        queued++;
    }

    void started(String id) {
        running.add(id);
    }

    void ended(TaskResult result, long now) {
        running.remove(result.id());
        rate.ended(now);
        switch (result.state()) {
            case SUCCEEDED -> succeeded++;
            case FAILED, TIMED_OUT, REJECTED -> failed++;
            case CANCELLED, SKIPPED -> cancelled++;
        }
    }

    /** Counts tasks that succeeded in an earlier run. */
    void succeededBefore(long tasks) {
        succeeded += tasks;
        queued += tasks;
    }

    String name() {
        return name;
    }

    long running() {
        return running.size();
    }

    long waiting() {
        return Math.max(0, total() - ended() - running());
    }

    long ended() {
        return succeeded + failed + cancelled;
    }

    private long total() {
        return Math.max(expected, queued);
    }

    /** Returns the line of this bar, in columns that all bars share. */
    AttributedString line(Layout layout, long now) {
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(layout.name(name));
        if (layout.barWidth() > 0) {
            line.append("  ");
            bar(line, layout);
        }
        for (Layout.Column column : Layout.Column.values()) {
            line.styled(style(column), layout.placed(column, text(column, layout.wording(), now)));
        }
        return line.toAttributedString();
    }

    private static AttributedStyle style(Layout.Column column) {
        return switch (column) {
            case FAILED -> AttributedStyle.DEFAULT.foreground(AttributedStyle.RED);
            case CANCELLED -> AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);
            default -> AttributedStyle.DEFAULT;
        };
    }

    /** Returns the text of a column; empty if there is none. */
    String text(Layout.Column column, Layout.Wording wording, long now) {
        double perSecond = rate.perSecond(now);
        long left = total() - ended();
        return switch (column) {
            case PROGRESS -> ended() + "/" + total();
            case RUNNING -> wording.running(running());
            case WAITING -> wording.waiting(waiting());
            case FAILED -> wording.failed(failed);
            case CANCELLED -> wording.cancelled(cancelled);
            case SPEED -> perSecond == 0 ? "" : speed(perSecond);
            case END ->
                perSecond == 0 || left == 0 ? "" : "ETA " + TextFormat.toSecond((long) (left * 1000 / perSecond));
        };
    }

    private void bar(AttributedStringBuilder line, Layout layout) {
        int good = cells(succeeded, layout);
        int all = cells(ended(), layout);
        int begun = cells(ended() + running(), layout);
        line.styled(
                AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN),
                layout.full().repeat(good));
        line.styled(
                AttributedStyle.DEFAULT.foreground(AttributedStyle.RED),
                layout.full().repeat(all - good));
        line.append(layout.begun().repeat(begun - all));
        line.append(layout.empty().repeat(layout.barWidth() - begun));
    }

    private int cells(long tasks, Layout layout) {
        return total() == 0 ? 0 : (int) Math.min(layout.barWidth(), tasks * layout.barWidth() / total());
    }

    private static String speed(double perSecond) {
        return perSecond >= 1
                ? String.format(Locale.ROOT, "%.1f/s", perSecond)
                : String.format(Locale.ROOT, "%.1f/min", perSecond * 60);
    }
}
