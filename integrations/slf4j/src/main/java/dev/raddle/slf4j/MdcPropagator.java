package dev.raddle.slf4j;

import dev.raddle.task.ContextPropagator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Propagates the MDC, SLF4J's logging context, from the submitter to the task. The task sees the entries of the
 * submitter and no others; entries that it adds are removed when it has ended. Then the previous entries of the thread
 * are restored, which matters for a task that runs in its caller's thread or in a pooled thread.
 *
 * {@snippet :
 * GroupPolicy policy =
 *         GroupPolicy.builder().addPropagator(new MdcPropagator()).build();
 * MDC.put("request", "r-17");
 * executor.submit("tenant-a", "import", () -> {
 *     logger.info("importing"); // with request=r-17
 *     return "done";
 * });
 * }
 *
 * <p>Propagates the map of the MDC. The stacks of {@link MDC#pushByKey} are not propagated and not changed, because
 * SLF4J cannot list them.
 */
public final class MdcPropagator implements ContextPropagator {

    /** Creates a propagator. All propagators are equivalent, because they have no state. */
    public MdcPropagator() {}

    @Override
    public Captured capture() {
        Map<String, String> captured = MDC.getCopyOfContextMap();
        return () -> {
            Map<String, String> before = MDC.getCopyOfContextMap();
            setEntries(captured);
            return () -> setEntries(before);
        };
    }

    private static void setEntries(@Nullable Map<String, String> entries) {
        if (entries == null) {
            MDC.clear();
        } else {
            MDC.setContextMap(entries);
        }
    }

    @Override
    public String toString() {
        return "propagator of the MDC";
    }
}
