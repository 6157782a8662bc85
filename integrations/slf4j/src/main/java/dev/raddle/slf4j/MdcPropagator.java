package dev.raddle.slf4j;

import dev.raddle.task.ContextPropagator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
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
 *
 * <p>Durable runs have the entries that are {@linkplain #saving chosen}, as their submitter had them, and no others:
 * these are stored with the run.
 *
 * {@snippet :
 * RunOptions.defaults().addPropagator(MdcPropagator.saving("request", "tenant"))
 * }
 */
public final class MdcPropagator implements ContextPropagator {

    private static final String PREFIX = "mdc-";

    private final List<String> saved; // the names of entries

    /** Creates a propagator that saves no entries for durable runs. */
    public MdcPropagator() {
        this(List.of());
    }

    private MdcPropagator(List<String> saved) {
        this.saved = saved;
    }

    /**
     * Returns a propagator that saves entries with durable runs. On Restate the caller sends them as headers: {@code
     * mdc-request} for the entry {@code request}.
     *
     * @param names the names of the entries, which must not differ in upper and lower case only
     * @return a new propagator
     */
    public static MdcPropagator saving(String... names) {
        return new MdcPropagator(List.of(names));
    }

    @Override
    public Captured capture() {
        return installing(MDC.getCopyOfContextMap());
    }

    @Override
    public Map<String, String> save() {
        Map<String, String> texts = new HashMap<>();
        for (String name : saved) {
            String value = MDC.get(name);
            if (value != null) {
                texts.put(keyOf(name), value);
            }
        }
        return texts;
    }

    @Override
    public Captured restore(Map<String, String> texts) {
        Map<String, String> entries = new HashMap<>();
        for (String name : saved) {
            String value = texts.get(keyOf(name));
            if (value != null) {
                entries.put(name, value);
            }
        }
        return installing(entries);
    }

    private static String keyOf(String name) {
        return PREFIX + name.toLowerCase(Locale.ROOT);
    }

    private static Captured installing(@Nullable Map<String, String> entries) {
        return () -> {
            Map<String, String> before = MDC.getCopyOfContextMap();
            setEntries(entries);
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
