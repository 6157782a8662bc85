package dev.raddle.cli.page;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.TaskFlow;
import dev.raddle.cli.file.value.Durations;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.Usage;
import dev.raddle.console.RunView;
import dev.raddle.console.RunView.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A task of a run as it is shown. Changed by one thread. */
final class TaskNode implements RunView.Node {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault());
    private static final String PENDING = "pending";
    private static final String WAITING = "waiting";
    private static final String RUNNING = "running";

    /** The error of an attempt in whose place a fallback runs, until the end of that. */
    private static final String FAILED = "failed";

    private final PlannedTask task;
    private final Supplier<List<String>> open; // the upstream tasks that have not ended
    private final Supplier<String> wait; // why a task of its group waits
    private volatile Progress now = new Progress(PENDING, null, List.of(), null, null, null);
    private volatile @Nullable String undone; // whether it was undone, in words
    private volatile boolean earlier; // whether its result is that of an earlier run, whose times are not shown

    /** What is known of the task. The attempts are those reported by events. */
    private record Progress(
            String state,
            @Nullable Instant readyAt,
            List<Attempt> attempts,
            @Nullable String note, // its process while it runs, the end of its pause while it waits
            @Nullable TaskResult result,
            @Nullable String text) {

        /** Returns this with the end of the last attempt, if that is unknown. */
        List<Attempt> closed(@Nullable Instant end, @Nullable String error) {
            if (attempts.isEmpty() || attempts.getLast().endedAt() != null) {
                return attempts;
            }
            List<Attempt> all = new ArrayList<>(attempts);
            all.set(all.size() - 1, new Attempt(all.getLast().startedAt(), end, error));
            return all;
        }
    }

    TaskNode(PlannedTask task, Supplier<List<String>> open, Supplier<String> wait) {
        this.task = task;
        this.open = open;
        this.wait = wait;
    }

    /** The task has succeeded in an earlier run. */
    void endedEarlier(TaskResult result) {
        earlier = true;
        ended(result, null);
    }

    void queued(Instant time) {
        earlier = false;
        now = new Progress(WAITING, time, now.attempts, null, null, null);
    }

    /** An attempt has started, or a fallback in place of one that has failed. */
    void started(Instant time, long pid) {
        List<Attempt> all = new ArrayList<>(now.closed(time, FAILED));
        all.add(new Attempt(time, null, null));
        now = new Progress(RUNNING, now.readyAt, all, String.valueOf(pid), null, null);
    }

    /** An attempt has failed, and another one follows after a pause. */
    void failed(Instant time, String error, Duration pause) {
        List<Attempt> all = now.closed(time, error);
        String note = "pauses until " + CLOCK.format(time.plus(pause)) + " before attempt " + (all.size() + 1);
        now = new Progress(WAITING, now.readyAt, all, note, null, null);
    }

    void undone(@Nullable String error) {
        undone = error == null ? "was undone" : "could not be undone: " + error;
    }

    /** The task has ended; the text is what it has printed, if that is known. Its times are those of the result. */
    void ended(TaskResult result, @Nullable String text) {
        if (earlier) {
            now = new Progress(result.state().text(), null, List.of(), null, result.withEndedAt(null), text);
            return;
        }
        boolean isFallback = TaskResult.VIA_FALLBACK.equals(result.via());
        boolean isValue = isFallback && task.flow().fallback() instanceof TaskFlow.Fallback.Value;
        List<Attempt> all = now.closed(result.endedAt(), isValue || !isFallback ? result.error() : null);
        if (isFallback && !isValue && all.size() > 1) {
            all = new ArrayList<>(all);
            Attempt failed = all.get(all.size() - 2);
            all.set(all.size() - 2, new Attempt(failed.startedAt(), failed.endedAt(), result.error()));
        }
        Instant readyAt = now.readyAt;
        Instant end = result.endedAt();
        if (end != null) {
            Instant begin = end.minusMillis(result.runMillis());
            readyAt = begin.minusMillis(result.waitMillis());
            if (!all.isEmpty()) {
                Attempt first = all.getFirst();
                all = new ArrayList<>(all);
                all.set(0, new Attempt(begin, first.endedAt(), first.error()));
            }
        }
        now = new Progress(result.state().text(), readyAt, all, null, result, text);
    }

    @Nullable
    TaskResult result() {
        return now.result;
    }

    // The view.

    @Override
    public String state() {
        return now.state;
    }

    @Override
    public String group() {
        return task.group();
    }

    @Override
    public @Nullable String why() {
        Progress known = now;
        String after = undone;
        if (after != null) {
            return after;
        }
        List<String> upstreams = known.state.equals(PENDING) ? open.get() : List.of();
        if (!upstreams.isEmpty()) {
            return "waits for " + String.join(", ", upstreams);
        }
        return known.state.equals(WAITING) ? known.note == null ? wait.get() : known.note : null;
    }

    @Override
    public @Nullable String error() {
        Progress known = now;
        return known.result != null
                ? known.result.error()
                : known.attempts.isEmpty() ? null : known.attempts.getLast().error();
    }

    @Override
    public @Nullable Instant readyAt() {
        return now.readyAt;
    }

    @Override
    public @Nullable Instant startedAt() {
        Progress known = now;
        if (!known.attempts.isEmpty()) {
            return known.attempts.getFirst().startedAt();
        }
        TaskResult result = known.result;
        if (result == null || result.endedAt() == null) {
            return null;
        }
        if (result.attempts() == 0 && result.runMillis() == 0) { // a command that cannot be started took some time
            return null;
        }
        return result.endedAt().minusMillis(result.runMillis());
    }

    @Override
    public @Nullable Instant endedAt() {
        TaskResult result = now.result;
        return result == null ? null : result.endedAt();
    }

    @Override
    public List<Attempt> attempts() {
        return now.attempts;
    }

    @Override
    public Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        Progress known = now;
        TaskResult result = known.result;
        if (known.state.equals(RUNNING)) {
            put("process", known.note, facts);
            put("timeout", task.timeout() == null ? null : Durations.text(task.timeout()), facts);
        }
        if (result != null && earlier) {
            facts.put("waited in an earlier run", result.waitMillis() + " ms");
            facts.put("took in an earlier run", result.runMillis() + " ms");
        }
        if (result != null) {
            put("exit code", result.exitCode(), facts);
            put("output", result.output(), facts);
            put("value of", result.via(), facts);
            Usage usage = result.usage();
            if (usage != null) {
                facts.put("CPU time", usage.cpuMillis() + " ms");
                if (usage.peakBytes() > 0) {
                    facts.put("peak memory", usage.peakBytes() / 1_000_000 + " MB");
                }
            }
        }
        facts.put("command", task.command().shown());
        return facts;
    }

    private static void put(String name, @Nullable Object value, Map<String, String> facts) {
        if (value != null) {
            facts.put(name, value.toString());
        }
    }

    @Override
    public @Nullable String text() {
        return now.text;
    }
}
