package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.RunScreen;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Lists what runs and what waits, when it is asked for by a signal: on standard error, above the fixed lines of a
 * terminal.
 */
public final class RunList implements RunListener, RunScreen {
    private final Screen screen;
    private final PrintWriter err;
    private final LongSupplier nanos;
    private final Map<String, Running> running = new LinkedHashMap<>(); // by id, the oldest first
    private final Map<String, String> waiting = new LinkedHashMap<>(); // the group by the id
    private long expected = -1; // -1 if unknown
    private long ended;

    private record Running(RunEvent.AttemptStarted last, long since) {}

    public RunList(Screen screen, PrintWriter err) {
        this(screen, err, System::nanoTime);
    }

    RunList(Screen screen, PrintWriter err, LongSupplier nanos) {
        this.screen = screen;
        this.err = err;
        this.nanos = nanos;
    }

    @Override
    public void on(RunEvent event) {
        switch (event) {
            case RunEvent.RunStarted begin ->
                expected = begin.tasks() < 0 ? -1 : begin.tasks() - begin.succeededBefore();
            case RunEvent.TaskQueued queued -> waiting.put(queued.id(), queued.group());
            case RunEvent.AttemptStarted started -> {
                waiting.remove(started.id());
                Running before = running.get(started.id());
                running.put(started.id(), new Running(started, before == null ? nanos.getAsLong() : before.since));
            }
            case RunEvent.TaskEnded end -> {
                waiting.remove(end.result().id());
                running.remove(end.result().id());
                ended++;
            }
            default -> {} // starts and ends nothing
        }
    }

    @Override
    public boolean isLive() {
        return screen.console().isTerminal();
    }

    @Override
    public void restore() {
        screen.restore();
    }

    @Override
    public void pause() {
        try {
            screen.clear();
        } catch (IOException e) {
            // the reader has closed the output, so the cursor does not matter
        }
    }

    @Override
    public void list() {
        try {
            screen.writeAside(() -> {
                err.print(text());
                err.flush();
            });
        } catch (IOException e) {
            // the next event reports it
        }
    }

    String text() {
        StringBuilder text = new StringBuilder(
                "raddle: " + running.size() + " running, " + waiting.size() + " waiting in their groups");
        long later = expected - ended - running.size() - waiting.size();
        text.append(later > 0 ? ", " + later + " for other tasks, " : ", ")
                .append(ended)
                .append(" done\n");
        running.forEach((id, task) -> {
            String age = TextFormat.toSecond((nanos.getAsLong() - task.since) / 1_000_000);
            String again = task.last.attempt() == 1 ? "" : ", attempt " + task.last.attempt();
            text.append("  running " + age + ": " + Printable.oneLine(id + " [" + task.last.group() + "]")
                    + ", process " + task.last.pid() + again + "\n");
        });
        Map<String, Long> groups = new LinkedHashMap<>();
        waiting.values().forEach(group -> groups.merge(group, 1L, Long::sum));
        groups.forEach(
                (group, number) -> text.append("  waiting in " + Printable.oneLine(group) + ": " + number + "\n"));
        return text.toString();
    }
}
