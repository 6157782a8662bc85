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

    /**
     * What a client asks for.
     *
     * @param owner the executor of the group, or the service that keeps the run in a database
     * @param key the group, or the node
     * @param ref the task, or the run
     */
    private record Command(String action, String owner, boolean isStored, String key, String ref, JsonNode value) {

        static Command of(ObjectNode json) {
            boolean isStored = json.has("service");
            String owner = text(json, isStored ? "service" : "executor");
            return new Command(
                    text(json, "action"), owner, isStored, text(json, "key"), text(json, "ref"), json.path("value"));
        }

        private static String text(ObjectNode json, String name) {
            JsonNode value = json.path(name);
            return value.isString() ? value.asString() : "";
        }

        String target() {
            return Failures.cut(((owner.isEmpty() ? key : owner + " / " + key) + " " + ref).strip());
        }

        @Nullable
        String text() {
            return value.isString() ? value.asString() : null;
        }

        @Nullable
        String shownValue() {
            String shown = value.isString() ? value.asString() : value.toString();
            return value.isNull() || value.isMissingNode() ? null : Failures.cut(shown);
        }

        long number() {
            boolean isLong = value.isIntegralNumber() && value.canConvertToLong();
            if (!isLong || value.longValue() < 0 || value.longValue() > Integer.MAX_VALUE) {
                throw new Refusal(400, "the value must be a whole number from 0 to " + Integer.MAX_VALUE);
            }
            return value.longValue();
        }

        /** Reads a rate such as 10/1000: permits, and the milliseconds of their period. */
        @Nullable
        Rate rate() {
            if (value.isNull()) {
                return null;
            }
            Matcher parts = RATE.matcher(value.isString() ? value.asString() : "");
            if (!parts.matches()) {
                throw new Refusal(400, "the rate must be permits/milliseconds, such as 10/1000");
            }
            return Rate.of(Integer.parseInt(parts.group(1)), Duration.ofMillis(Long.parseLong(parts.group(2))));
        }
    }

    /** Does what a client asks for, and returns a sentence about it. Refused commands are in the audit list, too. */
    String apply(ObjectNode json, String who) {
        if (!enabled) {
            throw new Refusal(403, "this console only shows things; ConsoleOptions.withControls(true) adds controls");
        }
        Command command = Command.of(json);
        try {
            String before = before(command);
            String done = ScopedValue.where(Changes.USER, who).call(() -> apply(command));
            add(command, who, before, done);
            return done;
        } catch (IllegalArgumentException | IllegalStateException | Refusal refused) {
            String problem = String.valueOf(refused.getMessage());
            boolean isFailure = refused instanceof Refusal refusal && refusal.status >= 500;
            add(command, who, null, (isFailure ? "failed: " : "refused: ") + problem);
            throw refused instanceof Refusal refusal ? refusal : new Refusal(400, problem);
        }
    }

    private String apply(Command command) {
        if (command.isStored) {
            return durable.apply(command.owner, command.action, command.ref, command.key, command.text());
        }
        return switch (command.action) {
            case "cancelRun" -> {
                String reason = command.text() == null ? "it was cancelled in the console" : command.text();
                flows.get(command.ref).run().cancel(reason);
                yield "the run is cancelled";
            }
            case "signal" -> {
                if (!flows.get(command.ref).signal(command.key, command.text())) {
                    throw new Refusal(409, "node \"" + command.key + "\" has ended, or has had its signal");
                }
                yield "node \"" + command.key + "\" has its signal";
            }
            default -> applyToGroup(command);
        };
    }

    /** Returns the value that an action on a group replaces, or null. */
    private @Nullable String before(Command command) {
        GroupExecutor executor = groups.executors.get(command.owner);
        GroupStats stats =
                executor == null ? null : executor.groupStats(command.key).orElse(null);
        return stats == null
                ? null
                : switch (command.action) {
                    case "setLimit" -> Groups.limitText(stats.maxConcurrency());
                    case "setRate" ->
                        stats.rate() == null ? "no rate" : stats.rate().toString();
                    case "pause", "resume" -> stats.paused() ? "paused" : "not paused";
                    case "hold" ->
                        stats.holdLeft() == null
                                ? "not on hold"
                                : "on hold for " + stats.holdLeft().toMillis() + " ms";
                    case "openBreaker", "resetBreaker" ->
                        stats.breaker() == null ? null : stats.breaker().toString();
                    default -> null;
                };
    }

    private void add(Command command, String who, @Nullable String before, String done) {
        String action = command.action;
        String target = command.target();
        synchronized (rows) {
            rows.addFirst(new Row(System.currentTimeMillis(), who, action, target, before, command.shownValue(), done));
            if (rows.size() > MOST_ROWS) {
                rows.removeLast();
            }
        }
        String replaced = before == null ? "" : "before: " + before + "; ";
        String line = who + ": " + done + " (" + replaced + action + " of " + target + ")";
        // A parameter, and in one line: a pattern or a line break may be in the names.
        System.getLogger("dev.raddle.console")
                .log(System.Logger.Level.INFO, "console: {0}", line.replaceAll("\\R|\\p{Cntrl}", " "));
    }

    private String applyToGroup(Command command) {
        GroupExecutor executor = groups.executors.get(command.owner);
        String key = command.key;
        GroupStats stats = executor == null ? null : executor.groupStats(key).orElse(null);
        if (executor == null || stats == null) {
            throw new Refusal(404, "there is no such group");
        }
        String group = "group \"" + Failures.cut(key) + "\"";
        return switch (command.action) {
            case "setLimit" -> {
                executor.setMaxConcurrency(key, (int) command.number());
                yield group + " has the limit " + command.value;
            }
            case "setRate" -> {
                Rate rate = command.rate();
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
                Duration length = Duration.ofMillis(command.number());
                executor.holdGroup(key, length);
                Duration before = stats.holdLeft();
                if (length.isZero() || (before != null && before.compareTo(length) > 0)) {
                    throw new Refusal(409, "a hold is not ended or shortened; a pause can be ended");
                }
                yield group + " is on hold for " + length.toMillis() + " ms";
            }
            case "openBreaker" -> {
                executor.openBreaker(key, Duration.ofMillis(command.number()));
                yield "the breaker of " + group + " is open for " + command.number() + " ms";
            }
            case "resetBreaker" -> {
                if (stats.breaker() == null) {
                    throw new Refusal(409, group + " has no breaker");
                }
                executor.resetBreaker(key);
                yield "the breaker of " + group + " is closed";
            }
            case "evict" -> {
                executor.evictGroup(key);
                yield group + " is evicted";
            }
            case "cancelTask" -> {
                TaskHandle<?> task = refs.find(executor, key, command.ref).handle();
                if (!task.cancel(true)) {
                    throw new Refusal(409, "the task has ended");
                }
                yield "task \"" + Failures.cut(task.taskId()) + "\" is cancelled";
            }
            default -> throw new Refusal(400, "there is no such action");
        };
    }
}
