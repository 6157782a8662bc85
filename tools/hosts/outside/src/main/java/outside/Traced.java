package outside;

import dev.raddle.flow.RunOptions;
import dev.raddle.opentelemetry.TaskTracing;
import dev.raddle.scope.ScopeOptions;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Scope;
import java.util.List;
import java.util.Map;
import program.Main;
import program.Places;

/**
 * Looks at each place in a span of the OpenTelemetry Java agent. With the agent alone a place may see no span, but none
 * of another request. With Raddle's tracing each place sees the trace of the request, and rounds of periodic jobs have
 * traces of their own.
 */
public final class Traced {

    private static final String NONE = "no trace";
    private static final String OTHER = "another trace";

    private Traced() {}

    public static void main(String[] args) throws Exception {
        TaskTracing tracing = TaskTracing.of(GlobalOpenTelemetry.get());
        Map<String, String> alone;
        Map<String, String> traced;
        try (Places places = new Places()) {
            alone = inSpan(places);
        }
        try (Places places = new Places(
                policy -> policy.addListener(tracing).addPropagator(tracing),
                ScopeOptions.defaults().addListener(tracing).addPropagator(tracing),
                RunOptions.defaults().addListener(tracing).addPropagator(tracing))) {
            traced = inSpan(places);
        }
        System.out.println("the agent alone is enough for " + keysOf(alone, "ok"));
        alone.values().removeIf(NONE::equals);
        for (String place : keysOf(traced, OTHER)) {
            if (place.endsWith("periodic")) {
                traced.put(place, "ok");
            }
        }
        System.exit(Main.report(alone) + Main.report(traced));
    }

    private static List<String> keysOf(Map<String, String> found, String what) {
        return found.keySet().stream()
                .filter(place -> found.get(place).equals(what))
                .toList();
    }

    private static Map<String, String> inSpan(Places places) throws Exception {
        Span span =
                GlobalOpenTelemetry.getTracer("outside").spanBuilder("request").startSpan();
        String trace = span.getSpanContext().getTraceId();
        try (Scope current = span.makeCurrent()) {
            return places.visit(() -> {
                SpanContext found = Span.current().getSpanContext();
                return !found.isValid() ? NONE : found.getTraceId().equals(trace) ? "ok" : OTHER;
            });
        } finally {
            span.end();
        }
    }
}
