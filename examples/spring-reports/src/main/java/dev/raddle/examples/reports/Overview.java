package dev.raddle.examples.reports;

import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import java.time.Duration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code GET /TENANT/overview} with what three services say, within a deadline. */
@RestController
class Overview {

    private static final ScopeOptions WITHIN = ScopeOptions.defaults().withDeadline(Duration.ofSeconds(3));
    private static final RetryPolicy RETRY = RetryPolicy.builder()
            .maxAttempts(3)
            .attemptTimeout(Duration.ofMillis(300))
            .build();

    private final Backends backends;
    private final Warehouse warehouse;
    private final Exchange exchange;

    Overview(Backends backends, Warehouse warehouse, Exchange exchange) {
        this.backends = backends;
        this.warehouse = warehouse;
        this.exchange = exchange;
    }

    @GetMapping("/{tenant}/overview")
    String overview(@PathVariable("tenant") String tenant) throws Exception {
        try (ThreadScope scope = ThreadScope.open("overview", WITHIN)) {
            Task<Integer> rows = scope.submit("rows", () -> warehouse.rows(tenant));
            Task<Integer> rate = scope.submit("rate", () -> exchange.rate("EUR", Exchange.INTERACTIVE));
            Task<String> headline = scope.submit(
                    TaskSpec.named("headline", () -> backends.headline(tenant)).retry(RETRY));
            scope.await(rows, rate, headline);
            return headline.await() + ": " + rows.await() + " rows at " + rate.await();
        }
    }
}
