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
    /** The run was interrupted by a signal. */
    public static final int INTERRUPTED = 130;
    /** The reader of the output has closed it. */
    public static final int OUTPUT_CLOSED = 141;

    private ExitCode() {}

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
