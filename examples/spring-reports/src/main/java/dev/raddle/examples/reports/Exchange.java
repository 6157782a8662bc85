package dev.raddle.examples.reports;

import dev.raddle.group.GroupExecutor;
import dev.raddle.task.TaskSpec;
import org.springframework.stereotype.Service;

/** Asks the vendor of rates, no more often than the contract allows. */
@Service
class Exchange {

    static final int NIGHTLY = 0;
    static final int INTERACTIVE = 1;

    private final Backends backends;
    private final GroupExecutor vendors;

    Exchange(Backends backends, GroupExecutor vendors) {
        this.backends = backends;
        this.vendors = vendors;
    }

    int rate(String currency, int priority) throws Exception {
        return vendors.call(
                "exchange",
                TaskSpec.named(currency, () -> backends.rate(currency)).priority(priority));
    }
}
