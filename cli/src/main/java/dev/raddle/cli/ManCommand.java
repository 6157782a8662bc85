package dev.raddle.cli;

import dev.raddle.cli.help.ManPage;
import java.io.IOException;
import picocli.CommandLine.Command;

/** Prints the manual page. */
@Command(
        name = "man",
        description = "Prints the manual page of raddle, in the language of man.",
        footer = {"", "Example:", "  raddle man | man -l -"})
final class ManCommand extends Subcommand {
    @Override
    public Integer call() throws IOException {
        return print(spec, ManPage.of(spec.root().commandLine(), Version.name()));
    }
}
