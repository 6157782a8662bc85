package dev.raddle.console;

import java.time.Duration;

/** Slows clients down that try tokens, and tells the log once a minute. The right token is never kept waiting. */
final class WrongTokens {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    private static final long PAUSE = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_WAIT = 5 * PAUSE; // of those that wait one after the other
    private static final int FREE = 9; // in a minute

    private long minuteBegan; // guarded by this, as are those below
    private int inMinute;
    private int untold;
    private long nextAt; // when the next one is answered
    private long toldAt;
    private boolean hasTold;

    /**
     * Counts a wrong token.
     *
     * @param now the current time in nanoseconds
     * @return the time in nanoseconds after which it is answered; less than 0 if too many others wait
     */
    synchronized long count(long now, String who) {
        if (inMinute == 0 || now - minuteBegan >= MINUTE) {
            minuteBegan = now;
            inMinute = 0;
            nextAt = now;
        }
        inMinute++;
        untold++;
        if (!hasTold || now - toldAt >= MINUTE) {
            System.getLogger("dev.raddle.console")
                    .log(System.Logger.Level.WARNING, "console: {0} wrong tokens, the last from {1}", untold, who);
            hasTold = true;
            toldAt = now;
            untold = 0;
        }
        if (inMinute <= FREE) {
            return 0;
        }
        if (nextAt - now > LONGEST_WAIT) {
            return -1;
        }
        nextAt = Math.max(now, nextAt) + PAUSE;
        return nextAt - now;
    }
}
