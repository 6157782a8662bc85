package dev.raddle.task;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes what becomes of tasks into flight recordings of the JDK, where the runtime image has the recorder; elsewhere it does
 * nothing. A {@link TaskRun} records itself; the nodes of flows, which are none, are recorded here by the flow.
 *
 * {@snippet :
 * boolean recorded = Recorder.isOn();
 * long begun = recorded ? System.nanoTime() : 0;
 * runNode();
 * if (recorded) {
 *     Recorder.settled("checkout", "price", TaskStatus.SUCCESS, begun - ready, System.nanoTime() - begun);
 * }
 * }
 *
 * <p>Any thread may call it, also while recordings begin and end. Nothing is thrown and nobody waits.
 *
 * @see <a href="https://openjdk.org/jeps/328">JEP 328, "Flight Recorder"</a>
 */
public final class Recorder {

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
     * Records how the node of a flow has ended. Does nothing if no recording asks for it, or there is no recorder.
     *
     * @param flow the name of the flow
     * @param id of the node
     * @param status how it ended
     * @param waited nanoseconds from when it was ready to when it began, or to its end if it did not
     * @param ran nanoseconds from when it began to its end; 0 if it did not begin
     */
    public static void settled(String flow, String id, TaskStatus status, long waited, long ran) {
        if (!IS_PRESENT) {
            return;
        }
        TaskEvent event = new TaskEvent();
        event.flow = flow;
        commit(event, id, status, waited, ran);
    }

    static void settled(
            @Nullable String group, @Nullable String scope, String name, TaskStatus status, long waited, long ran) {
        TaskEvent event = new TaskEvent();
        event.group = group;
        event.scope = scope;
        commit(event, name, status, waited, ran);
    }

    private static void commit(TaskEvent event, String name, TaskStatus status, long waited, long ran) {
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
