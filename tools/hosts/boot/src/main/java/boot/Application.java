package boot;

import dev.raddle.group.GroupExecutor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import program.Main;
import program.Places;

/** Starts the SDK that Boot configures, runs a task in a span of it, and looks at each place. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) throws Exception {
        int wrong;
        try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args);
                Places places = new Places()) {
            Span span = context.getBean(OpenTelemetry.class)
                    .getTracer("boot")
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
            wrong = Main.report(places.visit(Main::whatIsFound));
        }
        System.exit(wrong);
    }
}
