package dev.raddle.spring;

import dev.raddle.time.TimeSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
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

    @Bean
    @ConditionalOnMissingBean
    ShutdownTimeout raddleShutdownTimeout(RaddleProperties properties, ObjectProvider<TimeSource> time) {
        return new ShutdownTimeout(properties.shutdown().timeout(), time.getIfUnique(TimeSource::system));
    }

    @Bean
    ShutdownLifecycle raddleShutdownLifecycle(
            ConfigurableListableBeanFactory beans,
            ShutdownTimeout timeout,
            ConfiguredExecutors executors,
            ObjectProvider<DurableRuns> runs) {
        return new ShutdownLifecycle(
                beans, timeout, executors, runs.orderedStream().toList());
    }

    @Bean
    ReadinessLifecycle raddleReadinessLifecycle(ApplicationContext context) {
        return new ReadinessLifecycle(context);
    }
}
