package dev.raddle.cli;

import dev.raddle.cli.file.Failure;
import dev.raddle.cli.file.FileSize;
import dev.raddle.cli.file.InvalidFileException;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** A run file that has been read, from where the user wrote it or from a run directory. */
record RunFile(RunDirectory.Origin origin) {

    /** Reads a file that the user named; that it cannot be read is a wrong argument. */
    static RunFile of(Path path, Map<String, String> params, CommandLine commandLine) throws InvalidFileException {
        Path directory = path.toAbsolutePath().normalize().getParent();
        Path beside = directory == null ? Path.of("/") : directory;
        try {
            String text = PlanReader.decoded(path.toString(), FileSize.PARSED.read(path));
            return new RunFile(new RunDirectory.Origin(
                    path.toString(), beside, text, name -> FileSize.LINES.read(beside.resolve(name)), params));
        } catch (IOException e) {
            throw new ParameterException(
                    commandLine, "the run file \"" + path + "\" cannot be read: " + Failure.reason(e));
        }
    }

    /** The plan, to be run. */
    Plan plan() throws InvalidFileException {
        return reader().read(origin.text());
    }

    /** The plan, to be looked at: params may lack a value. */
    Plan draft() throws InvalidFileException {
        return reader().withoutValues().read(origin.text());
    }

    private PlanReader reader() {
        return new PlanReader(origin.file(), origin.directory(), origin.inputs()).params(origin.params());
    }

    /** Prints what is wrong with a file. */
    static void print(InvalidFileException e, String consequence, CommandLine commandLine) {
        e.problems().forEach(problem -> commandLine.getErr().println(problem));
        commandLine.getErr().println("raddle: " + e.getMessage() + consequence);
    }
}
