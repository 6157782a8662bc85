package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Explanation;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Explains why a task of a run is in its state. */
@Command(
        name = "explain",
        description = "Explains in one sentence why a task of a run is in its state.",
        footer = {"", "Example:", "  raddle explain raddle-runs/build-20260131-093000 publish"})
final class ExplainCommand extends Subcommand {
    @Parameters(index = "0", paramLabel = "RUNDIR", description = "The run directory, also of an active run.")
    private Path run = Path.of(""); // set by picocli

    @Parameters(index = "1", paramLabel = "TASK", description = "The id of the task.")
    private String task = ""; // set by picocli

    @Override
    public Integer call() throws IOException {
        try {
            RunDirectory directory = RunDirectory.existing(run);
            Plan plan = new RunFile(directory.origin()).draft();
            if (!plan.byId().containsKey(task)) {
                throw wrong("TASK must be a task of this run, was \"" + task + "\"" + plan.hint(task));
            }
            String sentence = new Explanation(plan, Journal.read(directory.journal())).of(task);
            return print(spec, Printable.oneLine(sentence) + "\n");
        } catch (NoSuchFileException e) {
            throw noRun("RUNDIR", run, e.getFile(), "");
        } catch (InvalidFileException e) {
            RunFile.print(e, "", spec.commandLine());
            return ExitCode.INVALID;
        }
    }
}
