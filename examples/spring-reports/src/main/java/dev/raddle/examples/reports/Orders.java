package dev.raddle.examples.reports;

import dev.raddle.examples.reports.Statements.Order;
import dev.raddle.flow.FlowPlan;
import dev.raddle.jackson.JacksonCodec;
import dev.raddle.jdbc.FlowService;
import dev.raddle.spring.FlowRegistration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Statements that a database keeps until they are made: {@code PUT /TENANT/orders/ID}. */
@RestController
@Profile("durable")
class Orders {

    private final FlowService flows;

    Orders(FlowService flows) {
        this.flows = flows;
    }

    @PutMapping("/{tenant}/orders/{id}")
    @ResponseStatus(HttpStatus.ACCEPTED)
    void order(@PathVariable("tenant") String tenant, @PathVariable("id") String id) {
        flows.submit("statement", id, new Order(tenant, id));
    }

    @GetMapping("/orders/{id}")
    String state(@PathVariable("id") String id) {
        return flows.status(id)
                .map(run -> run.state().name())
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    /** The plan of the step before, as the first version of a durable flow. */
    @Configuration(proxyBeanMethods = false)
    @Profile("durable")
    static class Durable {

        @Bean
        FlowRegistration durableStatement(FlowPlan<Order, String> statement) {
            return FlowRegistration.of(statement, "1", JacksonCodec.of(Order.class));
        }
    }
}
