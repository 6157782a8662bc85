package dev.raddle.console;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupStats;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What a user may change, and the list of what was changed. */
final class Controls {

    private static final int MOST_ROWS = 200;
    private static final Pattern RATE = Pattern.compile("(\\d{1,9})/(\\d{1,12})");

    record Row(
            long at,
            String who,
            String action,
            String target,
            @Nullable String before,
            @Nullable String value,
            String done) {}

    record Audit(List<Row> rows) {}

    private final boolean enabled;
    private final Groups groups;
    private final Flows flows;
    private final Durable durable;
    private final TaskRefs refs;
    private final Deque<Row> rows = new ArrayDeque<>(); // guarded by itself; the latest first

    Controls(boolean enabled, Groups groups, Flows flows, Durable durable, TaskRefs refs) {
        this.enabled = enabled;
        this.groups = groups;
        this.flows = flows;
        this.durable = durable;
        this.refs = refs;
    }

    boolean isEnabled() {
        return enabled;
    }

    Audit audit() {
        synchronized (rows) {
            return new Audit(List.copyOf(rows));
        }
    }

    /** Does what a client asks for, and returns a sentence about it. Refused commands are in the audit list, too. */
    String apply(ObjectNode command, String who) {
        if (!enabled) {
            throw new Refusal(403, "this console only shows things; ConsoleOptions.withControls(true) adds controls");
        }
        String action = text(command, "action");
        String executor = text(command, "executor");
        String owner = command.has("service") ? text(command, "service") : executor;
        String subject = owner.isEmpty() ? text(command, "key") : owner + " / " + text(command, "key");
        String target = Failures.cut((subject + " " + text(command, "ref")).strip());
        JsonNode value = command.path("value");
        String shown = value.isNull() || value.isMissingNode()
                ? null
                : Failures.cut(value.isString() ? value.asString() : value.toString());
        try {
            String before = before(action, executor, command);
            String done = ScopedValue.where(Changes.USER, who).call(() -> apply(action, executor, command));
            add(new Row(System.currentTimeMillis(), who, action, target, before, shown, done));
            return done;
        } catch (IllegalArgumentException | IllegalStateException | Refusal refused) {
            String problem = String.valueOf(refused.getMessage());
            String end = refused instanceof Refusal refusal && refusal.status >= 500 ? "failed: " : "refused: ";
            add(new Row(System.currentTimeMillis(), who, action, target, null, shown, end + problem));
            throw refused instanceof Refusal refusal ? refusal : new Refusal(400, problem);
        }
    }

    private String apply(String action, String executor, ObjectNode command) {
        return command.has("service")
                ? applyToStored(action, command)
                : isOfRun(action) ? applyToRun(action, command) : applyToGroup(action, executor, command);
    }

    /** Returns the value that an action on a group replaces, or null. */
    private @Nullable String before(String action, String name, ObjectNode command) {
        GroupExecutor executor = groups.executors.get(name);
        GroupStats stats = executor == null
                ? null
                : executor.groupStats(text(command, "key")).orElse(null);
        return stats == null
                ? null
                : switch (action) {
                    case "setLimit" -> Groups.limitText(stats.maxConcurrency());
                    case "setRate" ->
                        stats.rate() == null ? "no rate" : stats.rate().toString();
                    case "pause", "resume" -> stats.paused() ? "paused" : "not paused";
                    case "hold" ->
                        stats.holdLeft() == null
                                ? "not on hold"
                                : "on hold for " + stats.holdLeft().toMillis() + " ms";
                    default -> null;
                };
    }

    private void add(Row row) {
        synchronized (rows) {
            rows.addFirst(row);
            if (rows.size() > MOST_ROWS) {
                rows.removeLast();
            }
        }
        // A parameter, and in one line: a pattern or a line break may be in the names.
        System.getLogger("dev.raddle.console")
                .log(System.Logger.Level.INFO, "console: {0}", lineOf(row).replaceAll("\\R|\\p{Cntrl}", " "));
    }

    private static String lineOf(Row row) {
        String before = row.before == null ? "" : "before: " + row.before + "; ";
        return row.who + ": " + row.done + " (" + before + row.action + " of " + row.target + ")";
    }

    private static String text(ObjectNode command, String name) {
        JsonNode value = command.path(name);
        return value.isString() ? value.asString() : "";
    }

    private static boolean isOfRun(String action) {
        return action.equals("cancelRun") || action.equals("signal");
    }

    private String applyToRun(String action, ObjectNode command) {
        WatchedRun run = flows.get(text(command, "ref"));
        JsonNode value = command.path("value");
        if (action.equals("cancelRun")) {
            run.run().cancel(value.isString() ? value.asString() : "it was cancelled in the console");
            return "the run is cancelled";
        }
        String node = text(command, "key");
        if (!run.signal(node, value.isString() ? value.asString() : null)) {
            throw new Refusal(409, "node \"" + node + "\" has ended, or has had its signal");
        }
        return "node \"" + node + "\" has its signal";
    }

    private String applyToStored(String action, ObjectNode command) {
        JsonNode value = command.path("value");
        return durable.apply(
                text(command, "service"),
                action,
                text(command, "ref"),
                text(command, "key"),
                value.isString() ? value.asString() : null);
    }

    private String applyToGroup(String action, String name, ObjectNode command) {
        GroupExecutor executor = groups.executors.get(name);
        String key = text(command, "key");
        if (executor == null || executor.groupStats(key).isEmpty()) {
            throw new Refusal(404, "there is no such group");
        }
        JsonNode value = command.path("value");
        String group = "group \"" + Failures.cut(key) + "\"";
        return switch (action) {
            case "setLimit" -> {
                executor.setMaxConcurrency(key, (int) number(value, Integer.MAX_VALUE));
                yield group + " has the limit " + value;
            }
            case "setRate" -> {
                Rate rate = value.isNull() ? null : rate(value);
                executor.setRate(key, rate);
                yield group + (rate == null ? " has no rate" : " has the rate of " + rate);
            }
            case "pause" -> {
                executor.pauseGroup(key);
                yield group + " is paused";
            }
            case "resume" -> {
                executor.resumeGroup(key);
                yield group + " is resumed";
            }
            case "hold" -> {
                Duration time = Duration.ofMillis(number(value, Integer.MAX_VALUE));
                executor.holdGroup(key, time);
                yield group + " is on hold for " + time.toMillis() + " ms";
            }
            case "evict" -> {
                executor.evictGroup(key);
                yield group + " is evicted";
            }
            case "cancelTask" -> {
                TaskHandle<?> task =
                        refs.find(executor, key, text(command, "ref")).handle();
                if (!task.cancel(true)) {
                    throw new Refusal(409, "the task has ended");
                }
                yield "task \"" + Failures.cut(task.taskId()) + "\" is cancelled";
            }
            default -> throw new Refusal(400, "there is no such action");
        };
    }

    private static long number(JsonNode value, long most) {
        boolean isLong = value.isIntegralNumber() && value.canConvertToLong();
        if (!isLong || value.longValue() < 0 || value.longValue() > most) {
            throw new Refusal(400, "the value must be a whole number from 0 to " + most);
        }
        return value.longValue();
    }

    /** Reads a rate such as 10/1000: permits, and the milliseconds of their period. */
    private static Rate rate(JsonNode value) {
        Matcher parts = RATE.matcher(value.isString() ? value.asString() : "");
        if (!parts.matches()) {
            throw new Refusal(400, "the rate must be permits/milliseconds, such as 10/1000");
        }
        return Rate.of(Integer.parseInt(parts.group(1)), Duration.ofMillis(Long.parseLong(parts.group(2))));
    }
}
