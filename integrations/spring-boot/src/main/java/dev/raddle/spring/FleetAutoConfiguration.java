package dev.raddle.spring;

import dev.raddle.group.PermitSource;
import dev.raddle.redis.RedisFleet;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Configures the fleet from {@code raddle.redis}, with the connection of {@code spring.data.redis}. */
@AutoConfiguration(after = {DataRedisAutoConfiguration.class, RaddleAutoConfiguration.class})
@ConditionalOnClass({RedisFleet.class, DataRedisConnectionDetails.class})
@ConditionalOnBooleanProperty(name = "raddle.redis.enabled", matchIfMissing = true)
class FleetAutoConfiguration {

    @Bean
    @ConditionalOnBean(DataRedisConnectionDetails.class)
    @ConditionalOnMissingBean(PermitSource.class)
    FleetConnection raddleFleetConnection(
            DataRedisConnectionDetails details, ObjectProvider<DataRedisProperties> properties) {
        return FleetConnection.to(details, properties.getIfAvailable());
    }

    @Bean
    @ConditionalOnBean(FleetConnection.class)
    RedisFleet raddleFleet(FleetConnection connection, RaddleProperties properties, Environment environment) {
        return connection.connect(FleetSettings.optionsOf(properties.redis(), environment));
    }
}
