package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.value.InvalidFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The arguments of commands that read a run file and run nothing. */
final class FileArguments {
    @Parameters(index = "0", paramLabel = "FILE", description = "The run file, in YAML or JSON.")
    private Path file = Path.of(""); // set by picocli

    @Option(
            names = {"-p", "--param"},
            paramLabel = "NAME=VALUE",
            description = "The value of a param of the file; may be repeated.")
    private Map<String, String> params = new LinkedHashMap<>();

    Path file() {
        return file;
    }

    Plan plan(CommandLine commandLine) throws InvalidFileException {
        return RunFile.of(file, params, commandLine).draft();
    }
}
