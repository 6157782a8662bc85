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

/** The bars of all groups: what a terminal shows of a run at one moment. */
final class Board {
    private static final int MOST_GROUPS = 12;
    private static final int LEFT_FREE = 4;

    private final Map<String, Bar> groups = new LinkedHashMap<>();
    private final LongSupplier nanos;
    private final boolean blocks;
    private final Bar total;

    Board(LongSupplier nanos, boolean blocks) {
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
                group(started.group()).started(started.id());
                total.started(started.id());
            }
            case RunEvent.TaskEnded ended -> {
                long now = nanos.getAsLong();
                group(ended.result().group()).ended(ended.result(), now);
                total.ended(ended.result(), now);
            }
            default -> {}
        }
    }

    private Bar group(String key) {
        return groups.computeIfAbsent(key, name -> new Bar(name, nanos.getAsLong()));
    }

    /** The lines for a terminal of a size: a bar for each group, or the busiest and how many more, and the total. */
    List<AttributedString> lines(int columns, int rows) {
        long now = nanos.getAsLong();
        int room = Math.clamp(rows - LEFT_FREE, 1, MOST_GROUPS);
        Set<Bar> shown = groups.size() <= room ? new HashSet<>(groups.values()) : busiest(room - 1);
        List<String> names = new ArrayList<>(List.of(total.name()));
        shown.forEach(bar -> names.add(bar.name()));
        Layout layout = Layout.of(columns, names, blocks);
        List<AttributedString> lines = new ArrayList<>();
        for (Bar bar : groups.values()) {
            if (shown.contains(bar)) {
                lines.add(bar.line(layout, now));
            }
        }
        if (shown.size() < groups.size()) {
            lines.add(rest(shown));
        }
        lines.add(total.line(layout, now));
        return lines;
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

    private AttributedString rest(Set<Bar> shown) {
        long count = 0;
        long running = 0;
        long waiting = 0;
        long ended = 0;
        for (Bar bar : groups.values()) {
            if (!shown.contains(bar)) {
                count++;
                running += bar.running();
                waiting += bar.waiting();
                ended += bar.ended();
            }
        }
        return new AttributedString((blocks ? "…" : "...") + " and " + Words.count(count, "more group", "more groups")
                + ": " + running + " running, " + waiting + " waiting, " + ended + " done");
    }
}
