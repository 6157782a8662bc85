package dev.raddle.cli;

import dev.raddle.cli.help.Shell;
import dev.raddle.cli.run.ExitCode;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Iterator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Prints the script that makes a shell complete options and arguments. */
@Command(
        name = "completion",
        description = "Prints a script that makes a shell complete the options and arguments of raddle.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "Examples:",
            "  source <(raddle completion bash)",
            "  raddle completion zsh > \"$${fpath[1]}/_raddle\"",
            "  raddle completion fish > ~/.config/fish/completions/raddle.fish"
        })
final class CompletionCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    @Parameters(
            index = "0",
            paramLabel = "SHELL",
            completionCandidates = Names.class,
            converter = ShellConverter.class,
            description = "bash, zsh or fish.")
    private Shell shell = Shell.BASH; // set by picocli

    /** The names of the shells. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(Shell.values()).map(Shell::toString).iterator();
        }
    }

    /** Parses the name of a shell. */
    static final class ShellConverter implements ITypeConverter<Shell> {
        @Override
        public Shell convert(String text) {
            return Arrays.stream(Shell.values())
                    .filter(shell -> shell.toString().equals(text))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("must be bash, zsh or fish, was \"" + text + "\""));
        }
    }

    CompletionCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        out.print(shell.script(spec.root().commandLine()));
        out.flush();
        return ExitCode.OK;
    }
}
