package dev.raddle.spring;

import dev.raddle.micrometer.TaskMeters;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Configures meters, after Boot has configured the registry. */
@AutoConfiguration(
        after = RaddleAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass({TaskMeters.class, MeterRegistry.class})
@ConditionalOnBean(MeterRegistry.class)
class MetersAutoConfiguration {

    @Bean
    MeterInstrumentation raddleMeterInstrumentation(
            ObjectProvider<MeterRegistry> registry, RaddleProperties properties) {
        return new MeterInstrumentation(
                registry.getObject(), properties.metrics().topKeys());
    }
}
