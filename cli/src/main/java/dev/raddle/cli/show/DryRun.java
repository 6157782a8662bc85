package dev.raddle.cli.show;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Durations;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Rates;
import dev.raddle.cli.run.Json;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Prints the tasks that would run, with their groups and limits. */
public final class DryRun {
    private final Console console;
    private final boolean json;

    public DryRun(Console console, boolean json) {
        this.console = console;
        this.json = json;
    }

    /**
     * Prints the tasks of a plan that would run.
     *
     * @param left the ids of the tasks that would not run
     * @param succeededBefore the number of these that succeeded in an earlier run
     */
    public void print(Plan plan, Set<String> left, long succeededBefore) throws IOException {
        Map<String, List<PlannedTask>> groups = new LinkedHashMap<>();
        for (PlannedTask task : plan.tasks()) {
            if (!left.contains(task.id())) {
                groups.computeIfAbsent(task.group(), group -> new ArrayList<>()).add(task);
            }
        }
        if (!json) {
            Duration timeout = plan.timeout();
            long tasks = groups.values().stream().mapToLong(List::size).sum();
            line(Printable.oneLine(plan.name()) + ": " + TextFormat.count(tasks, "task", "tasks") + " in "
                    + TextFormat.count(groups.size(), "group", "groups") + ", "
                    + total(plan.limits())
                    + (timeout == null ? "" : ", timeout " + Durations.text(timeout))
                    + (succeededBefore == 0 ? "" : "; " + succeededBefore + " succeeded before"));
        }
        for (Map.Entry<String, List<PlannedTask>> group : groups.entrySet()) {
            if (!json) {
                line(title(group.getKey(), plan.limits()) + ": "
                        + TextFormat.count(group.getValue().size(), "task", "tasks"));
            }
            for (PlannedTask task : group.getValue()) {
                print(task);
            }
        }
    }

    /** Prints one task. */
    public void print(PlannedTask task) throws IOException {
        if (json) {
            line(Json.text(fields(task)));
        } else {
            line("  " + Printable.oneLine(task.id()) + "  "
                    + Printable.oneLine(task.command().shown()) + rules(task));
        }
    }

    /** Prints one task with its group. */
    public void printWithGroup(PlannedTask task) throws IOException {
        if (json) {
            print(task);
        } else {
            line(Printable.oneLine(task.id()) + " [" + Printable.oneLine(task.group()) + "]  "
                    + Printable.oneLine(task.command().shown()) + rules(task));
        }
    }

    private static String total(Limits limits) {
        Rate rate = limits.totalRate();
        return (limits.total() == Limits.UNLIMITED ? "any number at once" : "at most " + limits.total() + " at once")
                + (rate == null ? "" : ", rate " + Rates.text(rate));
    }

    private static String title(String group, Limits limits) {
        List<String> rules = new ArrayList<>();
        int limit = limits.limit(group);
        rules.add(limit == Limits.UNLIMITED ? "no limit" : "limit " + limit);
        add(rules, "queue ", limits.queue(group), Limits.UNLIMITED);
        add(rules, "weight ", limits.weight(group), 1);
        Rate rate = limits.rate(group);
        if (rate != null) {
            rules.add("rate " + Rates.text(rate));
        }
        return Printable.oneLine(group) + " (" + String.join(", ", rules) + ")";
    }

    private static void add(List<String> rules, String name, int value, int defaultValue) {
        if (value != defaultValue) {
            rules.add(name + value);
        }
    }

    private static String rules(PlannedTask task) {
        List<String> rules = new ArrayList<>();
        Duration timeout = task.timeout();
        if (timeout != null) {
            rules.add("timeout " + Durations.text(timeout));
        }
        if (task.retry().attempts() > 1) {
            rules.add("up to " + task.retry().attempts() + " attempts, "
                    + task.retry().backoff() + " apart");
        }
        add(rules, "priority ", task.priority(), 0);
        add(rules, "cost ", task.cost(), 1);
        if (!task.flow().needs().isEmpty()) {
            rules.add("needs " + task.flow().needs().stream().map(Need::text).collect(Collectors.joining(", ")));
        }
        return rules.isEmpty() ? "" : "  (" + String.join(", ", rules) + ")";
    }

    private static Map<String, @Nullable Object> fields(PlannedTask task) {
        Duration timeout = task.timeout();
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("event", "task-planned");
        fields.put("id", task.id());
        fields.put("group", task.group());
        fields.put("command", task.command().shown());
        fields.put("dir", task.dir());
        fields.put("timeoutMillis", timeout == null ? null : timeout.toMillis());
        fields.put("attempts", task.retry().attempts());
        fields.put("priority", task.priority());
        fields.put("cost", task.cost());
        if (!task.flow().needs().isEmpty()) {
            fields.put("needs", List.copyOf(task.flow().upstreams()));
        }
        return fields;
    }

    private void line(String text) throws IOException {
        console.write(text + "\n");
    }
}
