package dev.raddle.spring;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.group.GroupExecutor;
import dev.raddle.jdbc.FlowService;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;

/**
 * An application with flows in a process of its own, for {@link FlowSigtermTest}. Its runs begin, and continue when the
 * context is being closed: then they need the group, again and again. Prints both moments of each run.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
class FlowServer {

    static final int RUNS = 5;
    static final int MAILS = 50;

    private final CountDownLatch closing = new CountDownLatch(1);

    public static void main(String[] arguments) {
        SpringApplication.run(FlowServer.class, arguments);
    }

    @Bean
    FlowRegistration orders(GroupExecutor mail) {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        return FlowRegistration.of(
                f.returning(f.node("send", c -> {
                    System.out.println("begun " + c.param());
                    closing.await();
                    for (int i = 0; i < MAILS; i++) {
                        mail.call("acme", () -> "sent");
                    }
                    System.out.println("sent " + c.param());
                    return c.param();
                })),
                "1",
                FlowCodec.text());
    }

    @EventListener
    void ready(ApplicationReadyEvent event) {
        FlowService service = event.getApplicationContext().getBean(FlowService.class);
        for (int i = 0; i < RUNS; i++) {
            service.submit("order", "order-" + i, "order-" + i);
        }
    }

    @EventListener
    void closed(ContextClosedEvent event) {
        closing.countDown();
    }
}
