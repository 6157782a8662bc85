package dev.raddle.cli.run;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A process that was started for a task.
 *
 * @param pid its number, which belongs to it until {@link #release} if {@code ownSession}
 * @param token what its environment and that of all that it starts contain
 * @param ownSession whether it is the leader of a session, to which no process belongs that it did not start
 * @param exit its exit code, when it has ended
 * @param giveUp what to do when its number is no longer needed
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
