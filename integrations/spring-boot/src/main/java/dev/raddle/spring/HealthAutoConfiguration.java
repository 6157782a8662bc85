package dev.raddle.spring;

import dev.raddle.group.GroupExecutor;
import dev.raddle.pool.ThreadPool;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Configures the health of groups, pools and the fleet. */
@AutoConfiguration(after = RaddleAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("raddle")
class HealthAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "raddleHealthIndicator")
    RaddleHealthIndicator raddleHealthIndicator(
            Map<String, GroupExecutor> executors,
            Map<String, ThreadPool> pools,
            ObjectProvider<HealthContribution> contributions,
            RaddleProperties properties) {
        return new RaddleHealthIndicator(
                executors,
                pools,
                contributions.orderedStream().toList(),
                properties.health().downOnOpenBreaker());
    }
}
