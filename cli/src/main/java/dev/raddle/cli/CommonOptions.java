package dev.raddle.cli;

import dev.raddle.cli.file.value.Durations;
import dev.raddle.cli.file.value.Rates;
import dev.raddle.cli.run.ProcessStarter;
import dev.raddle.cli.run.RunSession;
import dev.raddle.task.Rate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The options that {@code run} and {@code map} share. */
final class CommonOptions {
    @Option(
            names = {"-q", "--quiet"},
            description = "Print only failures.")
    private boolean quiet;

    @Option(names = "--json", description = "Print every event as a line of JSON on standard output.")
    private boolean json;

    @Option(
            names = {"-n", "--dry-run"},
            description = "Show what would run, in which group; run nothing.")
    private boolean dryRun;

    @Option(names = "--report", paramLabel = "FILE", description = "Write the report here too, as JSON.")
    private @Nullable Path report;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = DurationConverter.class,
            description =
                    "How long commands have to end after SIGTERM, before SIGKILL; when raddle itself gets SIGTERM, also"
                            + " how long they have to end by themselves before that (default: ${DEFAULT-VALUE}).")
    private Duration grace = Duration.ofSeconds(5);

    @ArgGroup
    private @Nullable OnFailure onFailure;

    /** What to do when a task does not succeed. */
    static final class OnFailure {
        @Option(
                names = {"-k", "--keep-going"},
                description =
                        "Run everything that can run, as make -k does. Without it, tasks that only failed tasks need"
                                + " are skipped.")
        private boolean keepGoing;

        @Option(
                names = "--fail-fast",
                description = "Stop at the first unsuccessful task: nothing new starts, running commands get SIGTERM.")
        private boolean failFast;
    }

    boolean quiet() {
        return quiet;
    }

    boolean json() {
        return json;
    }

    boolean dryRun() {
        return dryRun;
    }

    boolean keepGoing() {
        return onFailure != null && onFailure.keepGoing;
    }

    @Nullable
    Path report() {
        return report;
    }

    /** Rejects a report path that cannot be written, before anything runs. */
    void checkReport(CommandLine commandLine) {
        Path directory = report == null ? null : report.toAbsolutePath().getParent();
        if (report != null && (directory == null || !Files.isWritable(directory) || Files.isDirectory(report))) {
            throw new ParameterException(
                    commandLine,
                    "--report must name a file in a directory that can be written, was \"" + report + "\"");
        }
    }

    /** Prints a warning, before anything runs, if child processes cannot be tracked fully on this system. */
    static void warnOfProcesses(CommandLine commandLine) {
        String limitation = ProcessStarter.limitation();
        if (limitation != null) {
            commandLine.getErr().println("raddle: warning: " + limitation);
        }
    }

    RunSession.Settings settings() {
        return new RunSession.Settings(grace, onFailure != null && onFailure.failFast);
    }

    /** Parses 5/s, 300/m, 10/30s. */
    static final class RateConverter implements ITypeConverter<Rate> {
        @Override
        public Rate convert(String text) {
            try {
                return Rates.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Parses 200ms, 5s, 2m, 1h. */
    static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Durations.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
