package dev.raddle.task;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes what becomes of tasks into flight recordings, where the runtime image has the recorder. The classes of the events
 * are loaded only there.
 */
final class Recorder {

    private static final boolean IS_PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private Recorder() {}

    /** Tells whether a recording asks how tasks end. */
    static boolean isOn() {
        return IS_PRESENT && TaskEvent.isOn();
    }

    static void settled(
            @Nullable String group, @Nullable String scope, String name, TaskStatus status, long waited, long ran) {
        TaskEvent event = new TaskEvent();
        event.group = group;
        event.scope = scope;
        event.name = name;
        event.outcome = status.name().toLowerCase(Locale.ROOT);
        event.waitTime = waited;
        event.runTime = ran;
        event.commit();
    }

    static void rejected(TaskIdentity task, String reason) {
        if (!IS_PRESENT) {
            return;
        }
        RejectionEvent event = new RejectionEvent();
        if (event.isEnabled()) {
            event.group = task.owner();
            event.name = task.name();
            event.reason = reason;
            event.commit();
        }
    }
}
