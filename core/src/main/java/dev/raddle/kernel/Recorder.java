package dev.raddle.kernel;

import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskStatus;
import dev.raddle.time.UserCode;
import java.util.Locale;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Writes the ends of tasks into flight recordings. Does nothing if the runtime image has no flight recorder. A
 * {@link TaskRun} records itself; a flow records its nodes, and a {@code StructuredTaskScope} its subtasks.
 *
 * {@snippet :
 * Recorder.Begun begun = Recorder.begin();
 * runNode();
 * Recorder.settled(OwnerKind.FLOW, "checkout", "price", TaskStatus.SUCCESS, waited, ran, begun);
 * }
 *
 * <p>Any thread may call it, also while recordings begin and end. No method throws or blocks.
 *
 * @see <a href="https://openjdk.org/jeps/328">JEP 328, "Flight Recorder"</a>
 */
public final class Recorder {

    /** The event of a task that has started while a recording includes the ends of tasks. */
    public static final class Begun {
        private final Object event; // whose class exists only with the recorder

        private Begun(Object event) {
            this.event = event;
        }
    }

    /** The kinds of owners that a task can have. */
    public enum OwnerKind {
        /** A group. */
        GROUP,
        /** A scope. */
        SCOPE,
        /** A flow. */
        FLOW
    }

    private static final boolean IS_PRESENT =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private Recorder() {}

    /**
     * Returns whether the classes of events may be asked for recordings. Before the first recording of a JVM this is
     * false: such a class loads the flight recorder, and so the first task of the JVM would wait for it.
     *
     * @return whether a recording was ever begun in this JVM
     */
    public static boolean isInUse() {
        return IS_PRESENT && FlightRecorder.isInitialized();
    }

    // The classes of the events are loaded only if the recorder is in use.

    /**
     * Returns whether a recording includes the ends of tasks. That may change at any moment.
     *
     * @return true if times must be measured for a recording; always false without the recorder
     */
    public static boolean isOn() {
        return IS_PRESENT && FlightRecorder.isInitialized() && TaskEvent.ANY.isEnabled();
    }

    /**
     * Begins the event of a task that starts now, if a recording includes the ends of tasks.
     *
     * @return the event, for {@code settled}, or null if no recording includes it
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
     * Records the end of a task. Does nothing if no recording includes it.
     *
     * @param kind the kind of its owner
     * @param owner the key of its group, or the name of its scope or flow
     * @param name the name of the task or the id of the node
     * @param status the status at the end
     * @param waited the nanoseconds from its submission to its start, or to its end if it did not start; for a node,
     *     from when it was ready
     * @param ran the nanoseconds from its start to its end; 0 if it did not start
     * @param begun the event of its start, or null
     */
    public static void settled(
            OwnerKind kind,
            String owner,
            String name,
            TaskStatus status,
            long waited,
            long ran,
            @Nullable Begun begun) {
        if (isInUse()) {
            UserCode.run(() -> {
                TaskEvent event = begun == null ? new TaskEvent() : (TaskEvent) begun.event;
                event.group = kind == OwnerKind.GROUP ? owner : null;
                event.scope = kind == OwnerKind.SCOPE ? owner : null;
                event.flow = kind == OwnerKind.FLOW ? owner : null;
                event.name = name;
                event.outcome = status.name().toLowerCase(Locale.ROOT);
                event.waitTime = waited;
                event.runTime = ran;
                event.commit();
            });
        }
    }

    /**
     * Records a change of an adaptive limit. Does nothing if no recording includes it.
     *
     * @param group the key of the group
     * @param before the limit before the change
     * @param after the limit after the change
     * @param reason the measurements that led to the change
     */
    public static void limitChanged(String group, int before, int after, String reason) {
        if (isInUse()) {
            UserCode.run(() -> {
                LimitEvent event = new LimitEvent();
                event.group = group;
                event.before = before;
                event.after = after;
                event.reason = reason;
                event.commit();
            });
        }
    }

    /**
     * Records that a task was not admitted by its group. Does nothing if no recording includes it.
     *
     * @param task the task
     * @param reason the rule that left no room
     */
    public static void rejected(TaskIdentity task, String reason) {
        if (isInUse()) {
            UserCode.run(() -> {
                RejectionEvent event = new RejectionEvent();
                event.group = task.owner();
                event.name = task.name();
                event.reason = reason;
                event.commit();
            });
        }
    }
}
