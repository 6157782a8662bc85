package dev.raddle.cli;

import dev.raddle.cli.help.ManPage;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the manual page. */
@Command(
        name = "man",
        description = "Prints the manual page of raddle, in the language of man.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {"", "Example:", "  raddle man | man -l -"})
final class ManCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create(); // set by picocli

    ManCommand() {}

    @Override
    public Integer call() throws IOException {
        return Main.print(spec, ManPage.of(spec.root().commandLine(), Version.name()));
    }
}
