package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Reports every mistake in a run file. */
@Command(
        name = "check",
        description = "Reports every mistake in a run file and its data; runs nothing.",
        footer = {"", "The exit code is 0 if the file is valid, otherwise 2."})
final class CheckCommand extends Subcommand {
    @Mixin
    private FileArguments arguments = new FileArguments();

    @Override
    public Integer call() {
        return arguments.print(spec, CheckCommand::valid);
    }

    private static String valid(Plan plan, String file) {
        int tasks = plan.tasks().size();
        int edges = plan.edges();
        return file + " is valid: " + tasks + (tasks == 1 ? " task, " : " tasks, ") + edges
                + (edges == 1 ? " edge\n" : " edges\n");
    }
}
