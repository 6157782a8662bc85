package dev.raddle.spring;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnThreading;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Configures {@link Grouped}. */
@AutoConfiguration(after = RaddleAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "raddle.grouped.enabled", matchIfMissing = true)
class GroupedAutoConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static GroupedPostProcessor raddleGroupedPostProcessor(Environment environment) {
        boolean proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        return new GroupedPostProcessor(new GroupedMethods(), proxyTargetClass);
    }

    /** Looks at the methods when the beans exist and their executors are known. */
    @Bean
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnThreading(Threading.PLATFORM)
    static SmartInitializingSingleton raddleRequestThreadCheck(GroupedPostProcessor grouped) {
        return grouped.methods()::warnOfHeldRequestThreads;
    }
}
