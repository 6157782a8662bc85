package dev.raddle.cli;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Rates;
import dev.raddle.cli.fleet.FleetAccess;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.task.Rate;
import java.io.IOException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Sets limits that JVMs share through Redis. */
@Command(
        name = "set",
        description = "Sets limits of a fleet. Every instance follows them within one lease.",
        footer = {
            "",
            "Examples:",
            "  raddle fleet set vip --limit 4 --rate 100/s --burst 10",
            "  raddle fleet set vip --reset",
            "  raddle fleet set --default-limit 2 --cap 16"
        })
final class FleetSetCommand extends Subcommand {
    @ParentCommand
    private FleetCommand parent = new FleetCommand(); // set by picocli

    @Parameters(arity = "0..1", paramLabel = "KEY", description = "The key of a group.")
    private @Nullable String key;

    @Option(names = "--limit", paramLabel = "N", description = "How many tasks of the group run at once in all JVMs.")
    private @Nullable Integer limit;

    @Option(
            names = "--rate",
            paramLabel = "RATE",
            description = "How many tasks of the group start per time in all JVMs, such as 5/s or 300/m.")
    private @Nullable Rate rate;

    @Option(
            names = "--burst",
            paramLabel = "N",
            description = "How many may start at once after a pause (default: the number of --rate).")
    private @Nullable Integer burst;

    @Option(names = "--reset", description = "Remove the limit and the rate of the group.")
    private boolean reset;

    @Option(
            names = "--default-limit",
            paramLabel = "N",
            description = "The limit of every group that has none of its own; 0 for none.")
    private @Nullable Integer defaultLimit;

    @Option(
            names = "--default-rate",
            paramLabel = "RATE",
            description = "The rate of every group that has none of its own.")
    private @Nullable Rate defaultRate;

    @Option(names = "--no-default-rate", description = "Remove the default rate.")
    private boolean noDefaultRate;

    @Option(names = "--cap", paramLabel = "N", description = "The limit of all groups together; 0 for none.")
    private @Nullable Integer cap;

    @Override
    public Integer call() throws IOException {
        check();
        Rate wholeRate = rate == null || burst == null ? rate : rate.burst(burst);
        try (FleetAccess fleet = parent.server().open(spec)) {
            if (key != null) {
                setGroup(fleet, key, wholeRate);
            }
            if (defaultLimit != null) {
                fleet.setDefaultLimit(defaultLimit);
                print("default limit", orNone(defaultLimit));
            }
            if (defaultRate != null || noDefaultRate) {
                fleet.setDefaultRate(defaultRate);
                print("default rate", defaultRate == null ? "none" : Rates.text(defaultRate));
            }
            if (cap != null) {
                fleet.setCap(cap);
                print("cap", orNone(cap));
            }
            return ExitCode.OK;
        } catch (IllegalArgumentException e) { // of the fleet, such as a key that is too long
            throw wrong(String.valueOf(e.getMessage()));
        }
    }

    private void setGroup(FleetAccess fleet, String group, @Nullable Rate wholeRate) throws IOException {
        String name = "\"" + Printable.oneLine(group) + "\"";
        if (reset) {
            fleet.reset(group);
            print("limit and rate of " + name, "removed");
        }
        if (limit != null) {
            fleet.setLimit(group, limit);
            print("limit of " + name, limit.toString());
        }
        if (wholeRate != null) {
            fleet.setRate(group, wholeRate);
            print("rate of " + name, Rates.text(wholeRate));
        }
    }

    private void check() {
        boolean ofGroup = reset || limit != null || rate != null || burst != null;
        boolean ofAll = defaultLimit != null || defaultRate != null || noDefaultRate || cap != null;
        if (!ofGroup && !ofAll) {
            throw wrong("Name what to set: --limit, --rate, --reset, --default-limit, --default-rate or --cap");
        }
        if (defaultRate != null && noDefaultRate) {
            throw wrong("--default-rate and --no-default-rate exclude each other");
        }
        if (ofGroup && key == null) {
            throw wrong("--limit, --rate, --burst and --reset need the KEY of a group");
        }
        if (!ofGroup && key != null) {
            throw wrong("KEY needs --limit, --rate or --reset");
        }
        if (reset && Stream.of(limit, rate, burst).anyMatch(given -> given != null)) {
            throw wrong("--reset and --limit, --rate or --burst exclude each other");
        }
        if (burst != null && rate == null) {
            throw wrong("--burst needs --rate");
        }
        atLeast("--limit", 1, limit);
        atLeast("--burst", 1, burst);
        atLeast("--default-limit", 0, defaultLimit);
        atLeast("--cap", 0, cap);
    }

    private void atLeast(String option, int least, @Nullable Integer value) {
        if (value != null && value < least) {
            throw wrong(option + " must be at least " + least + ", was " + value);
        }
    }

    private static String orNone(int limit) {
        return limit == 0 ? "none" : Integer.toString(limit);
    }

    private void print(String what, String value) {
        spec.commandLine().getOut().println(what + ": " + value);
    }
}
