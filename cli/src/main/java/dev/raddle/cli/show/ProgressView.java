package dev.raddle.cli.show;

import dev.raddle.cli.run.RunEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jline.utils.AttributedString;

/** The bars of all groups: the state of a run as a terminal shows it at one moment. */
final class ProgressView {
    private static final int MAX_GROUPS = 12;
    private static final int LEFT_FREE = 4;

    private static final int MAX_OLDEST = 3;
    private static final int ROWS_FOR_OLDEST = 20;
    private static final int ROWS_FOR_ONE_OLDEST = 6;
    private static final long MIN_AGE = 3_000_000_000L; // tasks that end sooner would only flicker

    private final Map<String, Bar> groups = new LinkedHashMap<>();
    private final Map<String, Running> running = new LinkedHashMap<>(); // by id, the oldest first
    private final LongSupplier nanos;
    private final boolean blocks;
    private final Bar total;

    /** A task that runs or pauses between attempts, and its start. */
    private record Running(String id, String group, long since) {}

    ProgressView(LongSupplier nanos, boolean blocks) {
        this.nanos = nanos;
        this.blocks = blocks;
        this.total = new Bar("total", nanos.getAsLong());
    }

    void on(RunEvent event) {
        switch (event) {
            case RunEvent.RunStarted started -> {
                total.expect(started.tasks());
                total.succeededBefore(started.succeededBefore());
            }
            case RunEvent.TaskQueued queued -> {
                group(queued.group()).queued();
                total.queued();
            }
            case RunEvent.AttemptStarted started -> {
                running.putIfAbsent(started.id(), new Running(started.id(), started.group(), nanos.getAsLong()));
                group(started.group()).started(started.id());
                total.started(started.id());
            }
            case RunEvent.TaskEnded ended -> {
                long now = nanos.getAsLong();
                running.remove(ended.result().id());
                group(ended.result().group()).ended(ended.result(), now);
                total.ended(ended.result(), now);
            }
            default -> {}
        }
    }

    private Bar group(String key) {
        return groups.computeIfAbsent(key, name -> new Bar(name, nanos.getAsLong()));
    }

    /**
     * Returns the lines for a terminal of a given size; fewer than its rows if it has at least two. They are a bar for
     * each group, or for the busiest groups with the number of the others, the total, and the tasks that have run
     * longest.
     */
    List<AttributedString> lines(int columns, int rows) {
        long now = nanos.getAsLong();
        List<Running> oldest = oldest(rows, now);
        int available = rows <= 2
                ? 0
                : Math.clamp(rows - LEFT_FREE - (rows < ROWS_FOR_OLDEST ? oldest.size() : 0), 1, MAX_GROUPS);
        Set<Bar> shown =
                groups.size() <= available ? new HashSet<>(groups.values()) : busiest(Math.max(0, available - 1));
        List<Bar> bars =
                new ArrayList<>(groups.values().stream().filter(shown::contains).toList());
        bars.add(total);
        Layout layout = Layout.of(columns, bars, now, blocks);
        List<AttributedString> lines = new ArrayList<>();
        bars.forEach(bar -> lines.add(bar.line(layout, now)));
        if (shown.size() < groups.size() && available > 0) {
            lines.add(lines.size() - 1, othersLine(shown, layout));
        }
        oldest.forEach(task -> lines.add(line(task, layout, columns, now)));
        return lines;
    }

    /** Returns the tasks that have run longest, for at least some seconds, as many as fit. */
    private List<Running> oldest(int rows, long now) {
        int max = rows >= ROWS_FOR_OLDEST ? MAX_OLDEST : rows >= ROWS_FOR_ONE_OLDEST ? 1 : 0;
        return running.values().stream()
                .limit(max)
                .filter(task -> now - task.since >= MIN_AGE)
                .toList();
    }

    private static AttributedString line(Running task, Layout layout, int columns, long now) {
        String age = TextFormat.toSecond((now - task.since) / 1_000_000);
        return layout.cut("running " + age + ": " + task.id + " [" + task.group + "]", columns - 1);
    }

    private Set<Bar> busiest(int count) {
        Comparator<Bar> byBusyness = Comparator.comparingLong(Bar::running)
                .thenComparingLong(Bar::waiting)
                .thenComparingLong(Bar::ended);
        return new HashSet<>(groups.values().stream()
                .sorted(byBusyness.reversed())
                .limit(count)
                .toList());
    }

    private AttributedString othersLine(Set<Bar> shown, Layout layout) {
        long count = 0;
        long runs = 0;
        long waits = 0;
        long ended = 0;
        for (Bar bar : groups.values()) {
            if (!shown.contains(bar)) {
                count++;
                runs += bar.running();
                waits += bar.waiting();
                ended += bar.ended();
            }
        }
        String more = layout.isNarrow()
                ? " " + count + " more: "
                : " and " + TextFormat.count(count, "more group", "more groups") + ": ";
        return new AttributedString((blocks ? "…" : "...") + more
                + layout.wording().running(runs) + ", " + layout.wording().waiting(waits) + ", " + ended + " done");
    }
}
