package dev.raddle.spring;

import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.FlowServiceStats;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** Configures the flow services in the health. */
@AutoConfiguration(after = FlowAutoConfiguration.class, before = HealthAutoConfiguration.class)
@ConditionalOnClass({FlowService.class, Health.class})
class FlowHealthAutoConfiguration {

    @Bean
    FlowHealth raddleFlowHealth(FlowServices services) {
        return new FlowHealth(services);
    }

    /**
     * Details without a status. Runs wait for a database that is away, and a restart would not bring it back; whether
     * requests need it is known to the application, whose health has the part {@code db}. The database is not asked.
     */
    record FlowHealth(FlowServices services) implements HealthContribution {
        @Override
        public void contribute(Health.Builder health) {
            Map<String, Object> details = new TreeMap<>();
            services.created().forEach((name, service) -> details.put(name, detailsOf(service.stats())));
            if (!details.isEmpty()) {
                health.withDetail("flowServices", details);
            }
        }

        private static Map<String, Object> detailsOf(FlowServiceStats stats) {
            Map<String, Object> details = new LinkedHashMap<>();
            details.put("executing", stats.executing().size());
            details.put("databaseAnswers", stats.isDatabaseAvailable());
            details.put("closed", stats.isClosed());
            return details;
        }
    }
}
