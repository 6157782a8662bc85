package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.pool.ThreadPool;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Configures the endpoint of Actuator. */
@AutoConfiguration(after = RaddleAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnAvailableEndpoint(RaddleEndpoint.class)
class EndpointAutoConfiguration {

    @Bean
    RaddleEndpoint raddleEndpoint(
            Map<String, GroupExecutor> executors, Map<String, ThreadPool> pools, ObjectProvider<DurableRuns> runs) {
        return new RaddleEndpoint(executors, pools, runs.orderedStream().toList());
    }

    @Bean
    static RaddleEndpoint.UnknownFields raddleUnknownFields() {
        return new RaddleEndpoint.UnknownFields();
    }
}
