package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.run.ProcessStarter;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** A run file that has been read, from the path that the user named or from a run directory. */
record RunFile(RunDirectory.Origin origin) {

    /** The name of the run file if the user names none. */
    static final String DEFAULT = "raddle.yaml";

    private static final Path STDIN = Path.of("stdin");

    /**
     * Reads a run file; one that cannot be read is an invalid argument.
     *
     * @param named the file, {@code -} for standard input, or null for the default
     */
    static RunFile of(@Nullable Path named, Map<String, String> params, CommandLine commandLine)
            throws InvalidFileException {
        boolean piped = named != null && named.toString().equals("-");
        Path path = piped ? STDIN : named == null ? nearest(Path.of("").toAbsolutePath(), commandLine) : named;
        Path directory = path.toAbsolutePath().normalize().getParent();
        Path beside = directory == null ? Path.of("/") : directory;
        if (piped) {
            Subcommand.warnOfTerminal(commandLine, "the run file");
        }
        try {
            byte[] bytes = piped ? FileSize.PARSED.read(System.in) : FileSize.PARSED.read(path);
            String text = PlanReader.decoded(path.toString(), bytes);
            return new RunFile(new RunDirectory.Origin(
                    path.toString(), beside, text, name -> FileSize.LINES.read(beside.resolve(name)), params));
        } catch (IOException e) {
            throw new ParameterException(
                    commandLine, "the run file \"" + path + "\" cannot be read: " + Failure.reason(e));
        }
    }

    /** Returns the default file of a directory: its own, or that of the nearest directory above. */
    static Path nearest(Path directory, CommandLine commandLine) {
        for (Path at = directory; at != null; at = at.getParent()) {
            if (Files.exists(at.resolve(DEFAULT))) {
                return directory.relativize(at.resolve(DEFAULT));
            }
        }
        throw new ParameterException(
                commandLine,
                "there is no " + DEFAULT + " here or in a directory above; name a FILE that ends in .yaml, .yml or"
                        + " .json, or - for standard input");
    }

    /**
     * Returns the plan, to be run.
     *
     * @param jobs how many tasks run at once instead of what the file says, or null
     * @param timeout how long the run may take instead of what the file says, or null
     */
    Plan plan(@Nullable Integer jobs, @Nullable Duration timeout) throws InvalidFileException {
        return reader().overridden(jobs, timeout).read(origin.text());
    }

    /** Returns the plan, to be shown: params may lack a value. */
    Plan draft() throws InvalidFileException {
        return reader().allowMissingValues().read(origin.text());
    }

    private PlanReader reader() {
        return new PlanReader(origin.file(), origin.directory(), origin.inputs())
                .params(origin.params())
                .environment(System.getenv())
                .charset(ProcessStarter.charset());
    }

    /** Prints the problems of a file. */
    static void print(InvalidFileException e, String consequence, CommandLine commandLine) {
        e.problems().forEach(problem -> commandLine.getErr().println(problem));
        commandLine.getErr().println("raddle: " + e.getMessage() + consequence);
    }
}
