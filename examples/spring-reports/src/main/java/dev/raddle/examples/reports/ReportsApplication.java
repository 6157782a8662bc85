package dev.raddle.examples.reports;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** A service of reports for many tenants. docs/guide/tutorial.md builds it step by step. */
@SpringBootApplication
public class ReportsApplication {

    /**
     * Starts the service.
     *
     * @param arguments properties, such as {@code --raddle.grouped.enabled=false} for a service without limits
     */
    public static void main(String[] arguments) {
        SpringApplication.run(ReportsApplication.class, arguments);
    }

    @Bean
    @ConditionalOnMissingBean
    Backends backends() {
        return new SlowBackends();
    }
}
