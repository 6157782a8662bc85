package dev.raddle.spring;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import java.util.concurrent.CountDownLatch;

/** Plans for the tests of the flow service. */
final class Flows {

    private Flows() {}

    static FlowPlan<String, String> greeting() {
        FlowBuilder<String> f = FlowPlan.define("greeting", String.class);
        Node<String> name = f.node("name", c -> c.param().strip());
        return f.returning(f.node("text", name, n -> "Hello, " + n));
    }

    static FlowRegistration greetingOf(String version) {
        return FlowRegistration.of(greeting(), version, FlowCodec.text());
    }

    /** Returns a flow whose only node opens the first latch and waits for the second one. */
    static FlowRegistration blocking(CountDownLatch begun, CountDownLatch end) {
        FlowBuilder<String> f = FlowPlan.define("blocking", String.class);
        Node<String> node = f.node("node", c -> {
            begun.countDown();
            end.await();
            return "ended";
        });
        return FlowRegistration.of(f.returning(node), "1", FlowCodec.text());
    }
}
