package dev.raddle.slf4j;

import dev.raddle.task.ContextPropagator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Carries the MDC, SLF4J's logging context, from the submitter into the task. The task sees the entries that the submitter
 * had, and no others; what it puts there itself is gone when it has ended. Then the thread has the entries again that it
 * had before, which counts where a task runs in a thread that goes on: its caller's, or one of a pool.
 *
 * {@snippet :
 * GroupPolicy policy =
 *         GroupPolicy.builder().propagators(List.of(new MdcPropagator())).build();
 * MDC.put("request", "r-17");
 * executor.submit("tenant-a", "import", () -> {
 *     logger.info("importing"); // with request=r-17
 *     return "done";
 * });
 * }
 *
 * <p>Carries the map of the MDC. The stacks behind {@link MDC#pushByKey} are not carried, and left alone: SLF4J cannot tell
 * which there are.
 */
public final class MdcPropagator implements ContextPropagator {

    /** Creates a propagator. One is as good as another: it has no state. */
    public MdcPropagator() {}

    @Override
    public Captured capture() {
        Map<String, String> captured = MDC.getCopyOfContextMap();
        return () -> {
            Map<String, String> before = MDC.getCopyOfContextMap();
            putInForce(captured);
            return () -> putInForce(before);
        };
    }

    private static void putInForce(@Nullable Map<String, String> entries) {
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
