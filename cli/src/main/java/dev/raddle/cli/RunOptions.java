package dev.raddle.cli;

import dev.raddle.cli.run.Halt;
import dev.raddle.cli.run.RunSession;
import dev.raddle.group.GroupExecutor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The options of {@code run} about what runs. */
final class RunOptions extends CommonOptions {
    @Option(
            names = {"-n", "--dry-run"},
            description = "Show what would run, in which group; run nothing.")
    private boolean dryRun;

    @ArgGroup
    private @Nullable OnFailure onFailure;

    /** What to do when a task does not succeed. */
    static final class OnFailure {
        @Option(
                names = {"-k", "--keep-going"},
                description =
                        "Run everything that can run, as make -k does. Without it, tasks that only failed tasks need"
                                + " are skipped.")
        private boolean keepGoing;

        @Option(
                names = "--fail-fast",
                description = "Stop at the first unsuccessful task: nothing new starts, running commands get SIGTERM.")
        private boolean failFast;
    }

    boolean dryRun() {
        return dryRun;
    }

    boolean keepGoing() {
        return onFailure != null && onFailure.keepGoing;
    }

    RunSession.Settings settings(@Nullable Consumer<GroupExecutor> watcher) {
        boolean failFast = onFailure != null && onFailure.failFast;
        return new RunSession.Settings(grace(), failFast ? Halt.failFast() : null, watcher);
    }
}
