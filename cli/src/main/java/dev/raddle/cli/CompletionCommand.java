package dev.raddle.cli;

import dev.raddle.cli.help.Shell;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

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
            completionCandidates = Shells.class,
            converter = Shells.class,
            description = "bash, zsh or fish.")
    private Shell shell = Shell.BASH; // set by picocli

    /** The names of the shells. */
    static final class Shells extends Choice<Shell> {
        Shells() {
            super(Shell.class);
        }
    }

    CompletionCommand() {}

    @Override
    public Integer call() {
        return Main.print(spec, shell.script(spec.root().commandLine()));
    }
}
