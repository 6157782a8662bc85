package dev.raddle.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.ControllerAdvice;

/** Configures the answers to requests whose tasks were rejected. */
@AutoConfiguration(after = RaddleAutoConfiguration.class)
@ConditionalOnWebApplication
@ConditionalOnClass(ControllerAdvice.class)
@ConditionalOnBooleanProperty(name = "raddle.web.enabled", matchIfMissing = true)
class RejectionWebAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    RejectionAdvice raddleRejectionAdvice(RaddleProperties properties) {
        return new RejectionAdvice(properties.web().retryAfter());
    }
}
