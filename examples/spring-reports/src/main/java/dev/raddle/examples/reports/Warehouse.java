package dev.raddle.examples.reports;

import dev.raddle.spring.Grouped;
import org.springframework.stereotype.Service;

/** Asks the warehouse, within the limits of the tenant. */
@Service
class Warehouse {

    private final Backends backends;

    Warehouse(Backends backends) {
        this.backends = backends;
    }

    @Grouped(executor = "tenants", key = "#tenant")
    int rows(String tenant) throws InterruptedException {
        return backends.rows(tenant);
    }
}
