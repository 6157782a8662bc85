package dev.raddle.spring;

import dev.raddle.micrometer.FleetMeters;
import dev.raddle.redis.RedisFleet;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Configures the meters of the fleet, which Boot binds to its registries. */
@AutoConfiguration(after = FleetAutoConfiguration.class)
@ConditionalOnClass({FleetMeters.class, RedisFleet.class, MeterRegistry.class})
@ConditionalOnBean(RedisFleet.class)
class FleetMetersAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    FleetMeters raddleFleetMeters(RedisFleet fleet) {
        return new FleetMeters(fleet);
    }
}
