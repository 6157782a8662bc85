package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.run.ExitCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** The arguments of commands that read a run file. */
final class FileArguments {
    private static final Pattern FILE = Pattern.compile("-|.*\\.(ya?ml|json)", Pattern.DOTALL);

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "FILE",
            description = "The run file, in YAML or JSON: a name that ends in .yaml, .yml or .json, or - for standard"
                    + " input (default: " + RunFile.DEFAULT + ", here or in a directory above).")
    private @Nullable Path file;

    @Option(
            names = {"-p", "--param"},
            paramLabel = "NAME=VALUE",
            converter = Param.Reader.class,
            description = "The value of a param of the file; may be repeated.")
    private List<Param> params = new ArrayList<>();

    /** The value of a param. The parser's own maps take quotes for syntax, and print a value in which they are odd. */
    private record Param(String name, String value) {
        static final class Reader implements ITypeConverter<Param> {
            @Override
            public Param convert(String text) {
                int end = text.indexOf('=');
                if (end < 0) {
                    throw new TypeConversionException("must be NAME=VALUE, had no ="); // it may be a secret
                }
                return new Param(text.substring(0, end), text.substring(end + 1));
            }
        }
    }

    Map<String, String> params() {
        Map<String, String> values = new LinkedHashMap<>();
        params.forEach(param -> values.put(param.name, param.value));
        return values;
    }

    /** Returns whether the first argument names a run file. */
    boolean namesFile() {
        return file != null && FILE.matcher(file.toString()).matches();
    }

    /** Returns the first argument as it was written, if it does not name a run file. */
    @Nullable
    String other(CommandSpec spec) {
        return file == null || namesFile()
                ? null
                : spec.positionalParameters().getFirst().originalStringValues().getFirst();
    }

    /** Reads the file that the first argument names, or the default. */
    RunFile read(CommandLine commandLine) throws InvalidFileException {
        return RunFile.of(namesFile() ? file : null, params(), commandLine);
    }

    /** Prints a text about the plan and the name of its file, or the problems of the file. Returns the exit code. */
    int print(CommandSpec spec, BiFunction<Plan, String, String> text) {
        CommandLine commandLine = spec.commandLine();
        try {
            RunFile source = RunFile.of(file, params(), commandLine);
            return Subcommand.print(
                    spec, text.apply(source.draft(), source.origin().file()));
        } catch (InvalidFileException e) {
            RunFile.print(e, "", commandLine);
            return ExitCode.INVALID;
        }
    }
}
