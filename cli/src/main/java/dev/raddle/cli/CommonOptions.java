package dev.raddle.cli;

import dev.raddle.cli.run.ProcessStarter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options that {@code run} and {@code map} share. */
class CommonOptions {
    @Option(
            names = {"-q", "--quiet"},
            description = "Print only failures.")
    private boolean quiet;

    @Option(names = "--json", description = "Print every event as a line of JSON on standard output.")
    private boolean json;

    @Option(names = "--report", paramLabel = "FILE", description = "Write the report here too, as JSON.")
    private @Nullable Path report;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            defaultValue = "5s",
            description =
                    "How long commands have to end after SIGTERM, before SIGKILL; when raddle itself gets SIGTERM, also"
                            + " how long they have to end by themselves before that (default: ${DEFAULT-VALUE}).")
    private Duration grace = Duration.ofSeconds(5);

    boolean quiet() {
        return quiet;
    }

    boolean json() {
        return json;
    }

    @Nullable
    Path report() {
        return report;
    }

    /** Rejects a report path that cannot be written, before anything runs. */
    void checkReport(CommandLine commandLine) {
        checkFile(commandLine, "--report", report);
    }

    /** Rejects the path of a file that cannot be written, before anything runs. */
    static void checkFile(CommandLine commandLine, String option, @Nullable Path file) {
        Path directory = file == null ? null : file.toAbsolutePath().getParent();
        if (file != null
                && (directory == null
                        || !Files.isWritable(Files.exists(file) ? file : directory)
                        || Files.isDirectory(file))) {
            throw new ParameterException(
                    commandLine, option + " must name a file in a directory that can be written, was \"" + file + "\"");
        }
    }

    /** Prints a warning, before anything runs, if child processes cannot be tracked fully on this system. */
    static void warnOfProcesses(CommandLine commandLine) {
        String limitation = ProcessStarter.limitation();
        if (limitation != null) {
            commandLine.getErr().println("raddle: warning: " + limitation);
        }
    }

    Duration grace() {
        return grace;
    }
}
