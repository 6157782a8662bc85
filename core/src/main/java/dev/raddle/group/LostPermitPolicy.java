package dev.raddle.group;

/** What happens to a running task whose permit a {@link PermitSource} has revoked. */
public enum LostPermitPolicy {
    /** The task is cancelled and its thread interrupted. The default: a limit holds as far as tasks obey. */
    INTERRUPT,
    /** The task continues. No other task starts in its place until the source grants a new permit. */
    CONTINUE
}
