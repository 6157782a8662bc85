package dev.raddle.cli.run;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A process that was started for a task.
 *
 * @param pid its number, which belongs to it until {@link #release} if {@code ownSession}
 * @param token the token in its environment and in those of the processes that it starts
 * @param ownSession true if it leads a session of which all members are its descendants
 * @param exit its exit code, when it has ended
 * @param giveUp the action that releases its number when that is no longer needed
 */
record Child(long pid, String token, boolean ownSession, CompletableFuture<Integer> exit, Runnable giveUp) {

    /** Waits for its end and returns its exit code. */
    int waitFor() throws InterruptedException {
        try {
            return exit.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the exit code of process " + pid + " is unknown", e.getCause());
        }
    }

    /** Says that no signal is sent to it any more. */
    @SuppressWarnings("FutureReturnValueIgnored") // what gives the number up is the end of it
    void release() {
        exit.whenComplete((code, error) -> giveUp.run());
    }
}
