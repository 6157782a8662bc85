package dev.raddle.kernel;

import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskStatus;
import dev.raddle.time.UserCode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes what becomes of tasks into flight recordings of the JDK, where the runtime image has the recorder; elsewhere
 * it does nothing. A {@link TaskRun} records itself; the nodes of flows, which are none, are recorded here by the flow.
 *
 * {@snippet :
 * Recorder.Begun begun = Recorder.begin();
 * runNode();
 * Recorder.settled("checkout", "price", TaskStatus.SUCCESS, waited, ran, begun);
 * }
 *
 * <p>Any thread may call it, also while recordings begin and end. Nothing is thrown and nobody waits.
 *
 * @see <a href="https://openjdk.org/jeps/328">JEP 328, "Flight Recorder"</a>
 */
public final class Recorder {

    /** A task that has begun while a recording asks how tasks end. */
    public static final class Begun {
        private final Object event; // whose class is there only where the recorder is

        private Begun(Object event) {
            this.event = event;
        }
    }

    private static final boolean IS_PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private Recorder() {}

    // The classes of the events are loaded only where the recorder is present.

    /**
     * Tells whether a recording asks how tasks end. That may change at any moment.
     *
     * @return true if it is worth while to measure what will be recorded; false, always, where there is no recorder
     */
    public static boolean isOn() {
        return IS_PRESENT && TaskEvent.isOn();
    }

    /**
     * Notes that a task begins now, if a recording asks how tasks end.
     *
     * @return what {@code settled} takes, or null if no recording asks
     */
    public static @Nullable Begun begin() {
        return isOn() ? begun() : null;
    }

    private static @Nullable Begun begun() {
        try {
            TaskEvent event = new TaskEvent();
            event.begin();
            return new Begun(event);
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
            return null;
        }
    }

    /**
     * Records how the node of a flow has ended. Does nothing if no recording asks for it, or there is no recorder.
     *
     * @param flow the name of the flow
     * @param id of the node
     * @param status how it ended
     * @param waited nanoseconds from when it was ready to when it began, or to its end if it did not
     * @param ran nanoseconds from when it began to its end; 0 if it did not begin
     * @param begun its begin; null if it did not begin, or before a recording asked
     */
    public static void settled(
            String flow, String id, TaskStatus status, long waited, long ran, @Nullable Begun begun) {
        if (IS_PRESENT) {
            commit(null, null, flow, id, status, waited, ran, begun);
        }
    }

    /**
     * Records how a task of a group or of a scope has ended. Does nothing if no recording asks for it, or there is no
     * recorder.
     *
     * @param group the key of its group, or null
     * @param scope the name of its scope, or null
     * @param name the task's name
     * @param status how it ended
     * @param waited nanoseconds from its submission to when it began, or to its end if it did not
     * @param ran nanoseconds from when it began to its end; 0 if it did not begin
     * @param begun its begin; null if it did not begin, or before a recording asked
     */
    public static void settled(
            @Nullable String group,
            @Nullable String scope,
            String name,
            TaskStatus status,
            long waited,
            long ran,
            @Nullable Begun begun) {
        if (IS_PRESENT) {
            commit(group, scope, null, name, status, waited, ran, begun);
        }
    }

    private static void commit(
            @Nullable String group,
            @Nullable String scope,
            @Nullable String flow,
            String name,
            TaskStatus status,
            long waited,
            long ran,
            @Nullable Begun begun) {
        try {
            TaskEvent event = begun == null ? new TaskEvent() : (TaskEvent) begun.event;
            event.group = group;
            event.scope = scope;
            event.flow = flow;
            event.name = name;
            event.outcome = status.name().toLowerCase(Locale.ROOT);
            event.waitTime = waited;
            event.runTime = ran;
            event.commit();
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
    }

    static void rejected(TaskIdentity task, String reason) {
        if (!IS_PRESENT) {
            return;
        }
        try {
            RejectionEvent event = new RejectionEvent();
            if (event.isEnabled()) {
                event.group = task.owner();
                event.name = task.name();
                event.reason = reason;
                event.commit();
            }
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
    }
}
