package dev.raddle.cli;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code raddle map} about how many commands run, wait and start. */
final class MapLimits {
    private static final Pattern LIMIT = Pattern.compile("([0-9]{1,9})(%?)");

    @Option(
            names = {"-j", "-P", "--jobs", "--limit"},
            paramLabel = "N",
            description = "How many run at once in each group: a number, a percentage of the processors, or 0 for no"
                    + " limit (default: one for each processor).")
    private String limit = "100%";

    @Option(
            names = "--queue",
            paramLabel = "N",
            description = "How many may wait in each group; further lines are rejected (default: no limit).")
    private @Nullable Integer queue;

    @Option(
            names = "--total",
            paramLabel = "N",
            description = "How many run at once in all (default: 256, or --limit if that is more).")
    private @Nullable Integer total;

    @Option(
            names = "--rate",
            paramLabel = "N/TIME",
            description = "How many start per time in each group, such as 5/s or 300/m (default: no limit).")
    private @Nullable Rate rate;

    @Option(
            names = "--burst",
            paramLabel = "N",
            description = "How many of a group may start at once after a pause (default: the number of --rate).")
    private @Nullable Integer burst;

    @Option(
            names = "--total-rate",
            paramLabel = "N/TIME",
            description = "How many start per time in all (default: no limit).")
    private @Nullable Rate totalRate;

    @Option(
            names = "--total-burst",
            paramLabel = "N",
            description = "How many may start at once in all after a pause (default: the number of --total-rate).")
    private @Nullable Integer totalBurst;

    /** Returns the limits, and adds what is wrong with them. */
    Limits read(WrongArguments wrong) throws IOException {
        GroupRule rule = new GroupRule(
                Objects.requireNonNullElse(wrong.valid("--limit", () -> limit(limit)), 1),
                queue == null ? null : (Integer) wrong.atLeast("--queue", 0, queue),
                null,
                rate(rate, burst, "--", wrong));
        return new Limits(
                rule,
                Map.of(),
                total == null ? Limits.defaultTotal(rule, Map.of()) : wrong.atLeast("--total", 1, total),
                Limits.UNLIMITED,
                rate(totalRate, totalBurst, "--total-", wrong));
    }

    private static int limit(String text) {
        Matcher number = LIMIT.matcher(text);
        if (!number.matches()) {
            throw new IllegalArgumentException("must be a number of commands at once, 0 for no limit, or a percentage"
                    + " of the processors such as 50%, was \"" + text + "\"");
        }
        int n = Integer.parseInt(number.group(1));
        if (!number.group(2).isEmpty()) {
            return (int) Math.max(1, (long) n * Runtime.getRuntime().availableProcessors() / 100);
        }
        return n == 0 ? Limits.UNLIMITED : n;
    }

    private static @Nullable Rate rate(
            @Nullable Rate given, @Nullable Integer tasks, String prefix, WrongArguments wrong) {
        wrong.addIf(tasks != null && given == null, prefix + "burst needs " + prefix + "rate");
        return tasks == null || given == null ? given : given.burst(wrong.atLeast(prefix + "burst", 1, tasks));
    }
}
