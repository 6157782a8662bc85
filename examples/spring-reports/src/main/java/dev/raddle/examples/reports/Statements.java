package dev.raddle.examples.reports;

import static dev.raddle.flow.Dependency.after;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code GET /TENANT/statements/MONTH} with the result of a flow. */
@RestController
class Statements {

    /** What a statement is made of. */
    record Order(String tenant, String month) {}

    /** The plan, which each request runs and, in {@link Orders}, a database keeps. */
    @Configuration(proxyBeanMethods = false)
    static class Plan {

        @Bean
        FlowPlan<Order, String> statement(Backends backends, Warehouse warehouse, Exchange exchange) {
            FlowBuilder<Order> f = FlowPlan.define("statement", Order.class);
            Node<Integer> rows = f.node("rows", c -> warehouse.rows(c.param().tenant()));
            Node<Integer> rate = f.node("rate", () -> exchange.rate("EUR", Exchange.INTERACTIVE));
            Node<String> headline = f.node(
                            "headline", c -> backends.headline(c.param().tenant()))
                    .timeout(Duration.ofMillis(100))
                    .defaultValue("no news");
            return f.returning(f.node(
                    "text",
                    rows,
                    rate,
                    after(headline),
                    (c, r, e, ended) -> c.param().month() + ": " + r + " rows at " + e + ", " + c.read(headline)));
        }
    }

    private final FlowPlan<Order, String> statement;

    Statements(FlowPlan<Order, String> statement) {
        this.statement = statement;
    }

    @GetMapping("/{tenant}/statements/{month}")
    String statement(@PathVariable("tenant") String tenant, @PathVariable("month") String month) throws Exception {
        return statement
                .run(new Order(tenant, month), RunOptions.timeout(Duration.ofSeconds(3)))
                .value();
    }
}
