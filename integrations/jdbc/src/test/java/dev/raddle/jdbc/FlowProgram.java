package dev.raddle.jdbc;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** An application that uses a service and closes it. {@link ClosedServiceTest} loads it with a loader of its own. */
public final class FlowProgram implements Consumer<DataSource> {

    private static final Duration LONG = Duration.ofHours(1);

    /** Creates the program. */
    public FlowProgram() {}

    @Override
    public void accept(DataSource database) {
        FlowBuilder<String> flow = FlowPlan.define("greeting", String.class);
        Node<String> text = flow.node("text", context -> "Hello, " + context.param());
        text.timeout(LONG);
        try (FlowService service = FlowService.on(database)
                .applySchema()
                .pollInterval(Duration.ofMillis(20))
                .register(flow.returning(text), "1", FlowCodec.text())
                .start()) {
            service.submit("greeting", "run", "Ada");
            service.await("run");
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
