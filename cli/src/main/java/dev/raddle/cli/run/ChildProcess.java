package dev.raddle.cli.run;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A process that was started for a task.
 *
 * @param pid the process id
 * @param token the token in its environment and in those of its descendants
 * @param ownSession true if it leads a session whose members are all its descendants
 * @param reserved true if the process id is not reused before {@link #release}
 * @param exit how the process ended, completed when it has
 * @param giveUp the action that releases the process id
 */
record ChildProcess(
        long pid, String token, boolean ownSession, boolean reserved, CompletableFuture<Exit> exit, Runnable giveUp) {

    /**
     * The end of a process.
     *
     * @param usage the CPU time and memory that it used, or null if they are unknown
     */
    record Exit(int code, @Nullable Usage usage) {}

    /** Waits for the end of the process and returns its exit code. */
    int waitFor() throws InterruptedException {
        return awaitExit().code;
    }

    /** Waits for the end of the process. */
    Exit awaitExit() throws InterruptedException {
        try {
            return exit.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the exit code of process " + pid + " is unknown", e.getCause());
        }
    }

    /** Releases the process id. No signal may be sent to the process afterwards. */
    @SuppressWarnings("FutureReturnValueIgnored") // the action itself releases the process id
    void release() {
        exit.whenComplete((code, error) -> giveUp.run());
    }
}
