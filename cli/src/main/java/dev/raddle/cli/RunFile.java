package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.run.ProcessStarter;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** A run file that has been read, from the path that the user named or from a run directory. */
record RunFile(RunDirectory.Origin origin) {

    /** Reads a file that the user named; a file that cannot be read is an invalid argument. */
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

    /** Returns the plan, to be run. */
    Plan plan() throws InvalidFileException {
        return reader().read(origin.text());
    }

    /** Returns the plan, to be shown: params may lack a value. */
    Plan draft() throws InvalidFileException {
        return reader().allowMissingValues().read(origin.text());
    }

    private PlanReader reader() {
        return new PlanReader(origin.file(), origin.directory(), origin.inputs())
                .params(origin.params())
                .charset(ProcessStarter.charset());
    }

    /** Prints the problems of a file. */
    static void print(InvalidFileException e, String consequence, CommandLine commandLine) {
        e.problems().forEach(problem -> commandLine.getErr().println(problem));
        commandLine.getErr().println("raddle: " + e.getMessage() + consequence);
    }
}
