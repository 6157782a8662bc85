package dev.raddle.cli.run;

/** The exit codes of the command line. */
public final class ExitCode {
    /** Every task succeeded. */
    public static final int OK = 0;
    /** At least one task failed. */
    public static final int FAILED = 1;
    /** The file or the arguments are invalid; nothing ran. */
    public static final int INVALID = 2;
    /** No task failed or timed out, but at least one was rejected by a queue limit. */
    public static final int REJECTED = 3;
    /** A task failed, timed out or was rejected, but no result of the flow depends on it. */
    public static final int DEGRADED = 4;
    /** Raddle itself could not continue, for example because the disk was full. */
    public static final int BROKEN = 70;
    /** The run timed out; or no task failed, but at least one timed out. */
    public static final int TIMED_OUT = 124;
    /** The run was interrupted: by SIGINT, which also ends this process, by SIGTERM or by SIGHUP. */
    public static final int INTERRUPTED = 130;
    /** The reader of the output has closed it. */
    public static final int OUTPUT_CLOSED = 141;

    /** Added to the number of a signal: this process ends by that signal, as its parent then sees. */
    private static final int DIES_OF = 0x100;

    private ExitCode() {}

    /** Returns what ends this process by a signal that it has handled. */
    static int diesOf(int signal) {
        return DIES_OF + signal;
    }

    /** Ends this process with an exit code, or by a signal; the first process of a container cannot do the latter. */
    public static void exit(int exitCode) {
        Posix posix = exitCode < DIES_OF ? null : Posix.get();
        if (posix != null) {
            posix.takeDefault(exitCode - DIES_OF);
        }
        System.exit(exitCode < DIES_OF ? exitCode : AttemptEnd.BY_SIGNAL + exitCode - DIES_OF);
    }

    /**
     * Returns the exit code of a run. The order of precedence is: a stop from outside or by the timeout of the run,
     * degraded, failed, timed out, rejected. A run that was stopped without a failure did not run every task, so it
     * counts as interrupted.
     */
    static int of(Counts totals, Stop stop, boolean degraded) {
        Stop.Reason reason = stop.reason();
        if (reason != null) {
            switch (reason) {
                case INTERRUPTED, TERMINATED -> {
                    return INTERRUPTED;
                }
                case OUTPUT_CLOSED -> {
                    return OUTPUT_CLOSED;
                }
                case BROKEN -> {
                    return BROKEN;
                }
                case TIMED_OUT -> {
                    if (totals.cancelled() > 0) { // otherwise all tasks had ended
                        return TIMED_OUT;
                    }
                }
                case SUCCEEDED -> {
                    return OK;
                }
                case FAIL_FAST, FAILED -> {}
            }
        }
        if (degraded) {
            return DEGRADED;
        }
        if (totals.failed() > 0) {
            return FAILED;
        }
        if (totals.timedOut() > 0) {
            return TIMED_OUT;
        }
        if (totals.rejected() > 0) {
            return REJECTED;
        }
        return totals.cancelled() > 0 ? INTERRUPTED : OK;
    }
}
