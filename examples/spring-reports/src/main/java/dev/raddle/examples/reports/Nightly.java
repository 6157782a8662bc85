package dev.raddle.examples.reports;

import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ThreadPool;
import dev.raddle.spring.ThreadPoolCustomizer;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Accepts jobs of the night, {@code POST /nightly/TENANT}. Each one that was accepted is done, or left in a file. */
@RestController
class Nightly {

    private final ThreadPool night;
    private final JobFiles files;
    private final Warehouse warehouse;
    private final Exchange exchange;

    Nightly(ThreadPool night, JobFiles files, Warehouse warehouse, Exchange exchange) {
        this.night = night;
        this.files = files;
        this.warehouse = warehouse;
        this.exchange = exchange;
    }

    private final class Job implements Runnable {
        private final String tenant;

        Job(String tenant) {
            this.tenant = tenant;
        }

        @Override
        public void run() {
            try {
                int rows = warehouse.rows(tenant);
                files.done(tenant + " has " + rows + " rows at " + exchange.rate("EUR", Exchange.NIGHTLY));
            } catch (Exception stopped) { // interrupted, or rejected by a group that is shut down
                files.left(tenant);
            }
        }

        @Override
        public String toString() {
            return tenant;
        }
    }

    @PostMapping("/nightly/{tenant}")
    @ResponseStatus(HttpStatus.ACCEPTED)
    void accept(@PathVariable("tenant") String tenant) {
        night.execute(new Job(tenant));
    }

    @ExceptionHandler(RejectedExecutionException.class)
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    void refuse() {}

    @EventListener(ApplicationReadyEvent.class)
    void continueWithWhatIsLeft() {
        files.takeLeft().forEach(this::accept);
    }

    /** The listener that is notified of what the pool has not started when it stops. */
    @Configuration(proxyBeanMethods = false)
    static class Left {

        @Bean
        ThreadPoolCustomizer keepUnstarted(JobFiles files) {
            return (name, pool) -> pool.listener(new PoolListener() {
                @Override
                public void handedBack(Runnable job) {
                    files.left(job.toString());
                }
            });
        }
    }
}
