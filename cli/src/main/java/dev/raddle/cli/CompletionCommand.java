package dev.raddle.cli;

import dev.raddle.cli.help.Shell;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints the script that makes a shell complete options and arguments. */
@Command(
        name = "completion",
        description = "Prints a script that makes a shell complete the options and arguments of raddle.",
        footer = {
            "",
            "Examples:",
            "  source <(raddle completion bash)",
            "  raddle completion zsh > \"$${fpath[1]}/_raddle\"",
            "  raddle completion fish > ~/.config/fish/completions/raddle.fish"
        })
final class CompletionCommand extends Subcommand {
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

    @Override
    public Integer call() {
        return print(spec, shell.script(spec.root().commandLine()));
    }
}
