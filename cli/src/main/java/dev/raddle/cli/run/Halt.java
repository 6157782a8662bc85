package dev.raddle.cli.run;

import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Ends a run when enough tasks have failed, or when enough have succeeded. For one run. */
public final class Halt {
    private static final Pattern FORM = Pattern.compile("(now|soon),(fail|success)=([1-9][0-9]{0,8})(%?)");

    /** A share of the tasks counts from this number on: the first failure is not all failures. */
    private static final int LEAST_FOR_SHARE = 3;

    private final ReentrantLock lock = new ReentrantLock();
    private final Stop.Reason reason;
    private final boolean soon;
    private final boolean success;
    private final int most;
    private final boolean share;
    private long ended; // guarded by lock
    private long counted; // guarded by lock

    private Halt(Stop.Reason reason, boolean soon, boolean success, int most, boolean share) {
        this.reason = reason;
        this.soon = soon;
        this.success = success;
        this.most = most;
        this.share = share;
    }

    /** Ends the run at the first task that does not succeed. */
    public static Halt failFast() {
        return new Halt(Stop.Reason.FAIL_FAST, false, false, 1, false);
    }

    /**
     * Parses {@code now,fail=1}, {@code soon,success=3}, {@code soon,fail=10%}.
     *
     * @throws IllegalArgumentException if the text has another form; the message continues a sentence that begins with
     *     the name of the value
     */
    public static Halt parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches() || (!form.group(4).isEmpty() && Integer.parseInt(form.group(3)) > 100)) {
            throw new IllegalArgumentException(
                    "must be now or soon, a comma, and fail=N, success=N, or these with up to 100%, such as now,fail=1,"
                            + " was \"" + text + "\"");
        }
        boolean success = form.group(2).equals("success");
        return new Halt(
                success ? Stop.Reason.SUCCEEDED : Stop.Reason.FAILED,
                form.group(1).equals("soon"),
                success,
                Integer.parseInt(form.group(3)),
                !form.group(4).isEmpty());
    }

    /** Counts a task that has ended, and stops the run if that is enough. */
    void ended(TaskResult result, Stop stop) {
        if (result.state() == TaskState.SKIPPED || !isEnough(result.succeeded())) {
            return;
        }
        if (soon) {
            stop.finish(reason);
        } else {
            stop.request(reason);
        }
    }

    private boolean isEnough(boolean succeeded) {
        lock.lock();
        try {
            ended++;
            counted += succeeded == success ? 1 : 0;
            return share ? counted >= LEAST_FOR_SHARE && counted * 100 >= ended * most : counted >= most;
        } finally {
            lock.unlock();
        }
    }
}
