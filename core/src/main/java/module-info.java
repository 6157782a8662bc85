/**
 * Raddle's core: one task kernel and the doors to it. No dependency, no preview API, no thread that nobody ends.
 *
 * <p>Start at {@link dev.raddle.group.GroupExecutor} ("tenant A must not starve tenant B"),
 * {@link dev.raddle.scope.ThreadScope} ("these calls belong to this request"), {@link dev.raddle.flow.FlowPlan} ("c needs a and
 * b") or {@link dev.raddle.pool.ThreadPool} ("stop without losing work"). The rooms below them may be used on their own: {@link dev.raddle.task} is one callable's life,
 * {@link dev.raddle.limit} says who may run now, {@link dev.raddle.time} what time it is, and {@link dev.raddle.testing}
 * lets tests own time and order.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle {
    requires static org.jspecify;
    requires static jdk.jfr; // events, where the runtime image has the recorder

    exports dev.raddle.time;
    exports dev.raddle.limit;
    exports dev.raddle.pool;
    exports dev.raddle.task;
    exports dev.raddle.group;
    exports dev.raddle.scope;
    exports dev.raddle.flow;
    exports dev.raddle.testing;
}
