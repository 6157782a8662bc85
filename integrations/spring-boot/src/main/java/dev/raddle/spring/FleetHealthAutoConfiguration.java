package dev.raddle.spring;

import dev.raddle.redis.OutageMode;
import dev.raddle.redis.RedisFleet;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.annotation.Bean;

/** Configures the state of the fleet in the health. */
@AutoConfiguration(after = FleetAutoConfiguration.class, before = HealthAutoConfiguration.class)
@ConditionalOnClass({RedisFleet.class, Health.class})
@ConditionalOnBean(RedisFleet.class)
class FleetHealthAutoConfiguration {

    @Bean
    FleetHealth raddleFleetHealth(RedisFleet fleet, RaddleProperties properties) {
        return new FleetHealth(fleet, properties.health().downOnFleetOutage());
    }

    /** The health is DOWN only if no task can start, and only if the application wants that. */
    record FleetHealth(RedisFleet fleet, boolean downOnOutage) implements HealthContribution {
        @Override
        public void contribute(Health.Builder health) {
            boolean isUp = fleet.stats().backendUp();
            health.withDetail("fleet", fleet.options().namespace()).withDetail("fleetServerAnswers", isUp);
            if (downOnOutage && !isUp && fleet.options().outageMode() instanceof OutageMode.Closed) {
                health.down();
            }
        }
    }
}
