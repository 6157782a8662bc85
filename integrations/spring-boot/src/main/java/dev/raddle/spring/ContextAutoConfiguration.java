package dev.raddle.spring;

import dev.raddle.micrometer.SnapshotPropagator;
import dev.raddle.slf4j.LoggingSink;
import dev.raddle.slf4j.MdcPropagator;
import dev.raddle.task.ExceptionSink;
import io.micrometer.context.ContextSnapshotFactory;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Configures the propagation of contexts from submitters to tasks. */
@AutoConfiguration(after = RaddleAutoConfiguration.class)
class ContextAutoConfiguration {

    /** The contexts of Micrometer, such as the current observation and with it the trace. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({SnapshotPropagator.class, ContextSnapshotFactory.class})
    static class OfMicrometer {
        @Bean
        @Order(1) // after the MDC, so that the entries of the trace are those of the task
        @ConditionalOnMissingBean
        SnapshotPropagator raddleSnapshotPropagator() {
            return SnapshotPropagator.create();
        }
    }

    /** The MDC, and warnings in the application's log. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MdcPropagator.class, MDC.class})
    static class OfSlf4j {
        @Bean
        @Order(0)
        @ConditionalOnMissingBean
        MdcPropagator raddleMdcPropagator() {
            return new MdcPropagator();
        }

        @Bean
        @ConditionalOnMissingBean
        ExceptionSink raddleExceptionSink() {
            return LoggingSink.create();
        }
    }
}
