package dev.raddle.spring;

import dev.raddle.opentelemetry.TaskTracing;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

/** Configures a span for each task of the configured executors and pools, which is current in the task. */
@AutoConfiguration(
        after = RaddleAutoConfiguration.class,
        afterName = "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration")
@ConditionalOnClass({TaskTracing.class, OpenTelemetry.class})
@ConditionalOnBean(OpenTelemetry.class)
class TracingAutoConfiguration {

    /** Listener and propagator in one: the other beans find it as both. */
    @Bean
    @Order(2) // after the contexts of Micrometer, so that the span of the task is the current one
    @ConditionalOnMissingBean
    TaskTracing raddleTaskTracing(OpenTelemetry openTelemetry) {
        return TaskTracing.of(openTelemetry);
    }
}
