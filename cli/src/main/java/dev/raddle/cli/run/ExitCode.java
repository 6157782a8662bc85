package dev.raddle.cli.run;

/** What the command line hears in the end. */
public final class ExitCode {
    /** Every task succeeded. */
    public static final int OK = 0;
    /** At least one task failed. */
    public static final int FAILED = 1;
    /** The file or the arguments are invalid; nothing ran. */
    public static final int INVALID = 2;
    /** No task failed or timed out, but at least one was rejected by a queue limit. */
    public static final int REJECTED = 3;
    /** Something failed, timed out or was rejected, but nothing on which the end of a flow depends. */
    public static final int DEGRADED = 4;
    /** Raddle itself could not go on, such as with a full disk. */
    public static final int BROKEN = 70;
    /** No task failed, but at least one timed out. */
    public static final int TIMED_OUT = 124;
    /** The run was interrupted by a signal. */
    public static final int INTERRUPTED = 130;
    /** Nobody reads the output any more. */
    public static final int OUTPUT_CLOSED = 141;

    private ExitCode() {}

    /**
     * The exit code of a run, in the order of precedence: what ended it from outside, then degraded, failed before timed out before
     * rejected. A run that was stopped although nothing went wrong did not do everything, so it counts as interrupted.
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
                case FAIL_FAST -> {}
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
