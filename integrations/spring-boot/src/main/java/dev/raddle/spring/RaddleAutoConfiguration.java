package dev.raddle.spring;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Configures executors and pools from {@link RaddleProperties}, and their shutdown. */
@AutoConfiguration
@EnableConfigurationProperties(RaddleProperties.class)
class RaddleAutoConfiguration {

    @Bean
    static ExecutorBeans raddleExecutorBeans(Environment environment) {
        return new ExecutorBeans(environment);
    }

    @Bean(ConfiguredExecutors.BEAN_NAME)
    ConfiguredExecutors raddleConfiguredExecutors(RaddleProperties properties, BeanFactory beans) {
        return new ConfiguredExecutors(properties, beans);
    }
}
