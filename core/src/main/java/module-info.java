/**
 * Organises work on threads: one kernel and four APIs on top of it. No dependency, no preview API, no thread that
 * outlives its work by more than some seconds: the threads that fire alarms and carry out what these decide are daemons
 * that end when they are idle.
 *
 * <p>Start at {@link dev.raddle.group.GroupExecutor} ("tenant A must not starve tenant B"),
 * {@link dev.raddle.scope.ThreadScope} ("these calls belong to this request"),
 * {@link dev.raddle.flow.FlowPlan} ("c needs a and b") or
 * {@link dev.raddle.pool.ThreadPool} ("stop without losing work"). They share the words of {@link dev.raddle.task} and
 * the clocks of {@link dev.raddle.time}; {@link dev.raddle.testing} lets tests control time and order. The kernel,
 * {@code dev.raddle.kernel}, is not exported.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle {
    requires static org.jspecify;
    requires static jdk.jfr; // events, where the runtime image has the recorder

    exports dev.raddle.time;
    exports dev.raddle.task;
    exports dev.raddle.pool;
    exports dev.raddle.group;
    exports dev.raddle.scope;
    exports dev.raddle.structured;
    exports dev.raddle.flow;
    exports dev.raddle.testing;

    uses dev.raddle.task.ContextPropagator;
    uses dev.raddle.task.SchedulerProvider;

    provides dev.raddle.task.SchedulerProvider with
            dev.raddle.pool.PoolSchedulers;
}
