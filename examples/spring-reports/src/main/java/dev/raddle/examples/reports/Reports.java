package dev.raddle.examples.reports;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code GET /TENANT/reports/NAME}. */
@RestController
class Reports {

    private final Warehouse warehouse;

    Reports(Warehouse warehouse) {
        this.warehouse = warehouse;
    }

    @GetMapping("/{tenant}/reports/{name}")
    String report(@PathVariable("tenant") String tenant, @PathVariable("name") String name)
            throws InterruptedException {
        return name + " for " + tenant + ": " + warehouse.rows(tenant) + " rows";
    }
}
