package consumer;

import dev.raddle.group.GroupExecutor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts the SDK that Boot configures, and runs a task in a span of it. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args)) {
            Span span = context.getBean(OpenTelemetry.class)
                    .getTracer("consumer")
                    .spanBuilder("hello")
                    .startSpan();
            if (!span.getSpanContext().isValid()) {
                throw new IllegalStateException("there is no SDK of OpenTelemetry");
            }
            try (Scope scope = span.makeCurrent()) {
                context.getBean(GroupExecutor.class)
                        .submit("hello", () -> System.out.println("hello from a span"))
                        .join();
            } finally {
                span.end();
            }
        }
    }
}
