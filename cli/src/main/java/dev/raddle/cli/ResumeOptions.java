package dev.raddle.cli;

import dev.raddle.cli.run.JobLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The options of {@code raddle map} about its job log, from which it continues. */
final class ResumeOptions {
    @Option(
            names = "--joblog",
            paramLabel = "FILE",
            description = "Write a line for each command that has ended to this file, in the columns of GNU parallel.")
    private @Nullable Path jobLog;

    @Option(names = "--resume", description = "Run only the commands that --joblog does not have.")
    private boolean resume;

    @Option(names = "--resume-failed", description = "The same, and those that failed.")
    private boolean resumeFailed;

    /** Rejects a file that cannot be written, before anything runs. */
    void checkFile(CommandLine commandLine) {
        CommonOptions.checkFile(commandLine, "--joblog", jobLog);
    }

    void check(WrongArguments wrong) {
        wrong.addIf(
                resumes() && jobLog == null,
                "--resume needs a log of what has run; write --joblog FILE, here and in the run before");
    }

    /** Returns the tasks without those that the log says need not run again; null if the log is wrong. */
    @Nullable
    CommandLines remaining(CommandLines tasks, WrongArguments wrong) throws IOException {
        Path log = jobLog;
        return resumes() && log != null
                ? wrong.valid("--joblog", () -> tasks.resume(JobLog.read(log), resumeFailed))
                : tasks;
    }

    /** Opens the log, or returns null if there is none. */
    @Nullable
    JobLog open(Function<String, Path> outputs) throws IOException {
        return jobLog == null ? null : new JobLog(jobLog, resumes(), outputs);
    }

    private boolean resumes() {
        return resume || resumeFailed;
    }
}
