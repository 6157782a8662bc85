package dev.raddle.spring;

import dev.raddle.testing.VirtualTime;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Configures a virtual time. Only {@link AutoConfigureRaddleTest} imports this configuration. */
@AutoConfiguration(before = RaddleAutoConfiguration.class)
class VirtualTimeAutoConfiguration {

    @Bean
    VirtualTime raddleVirtualTime() {
        return new VirtualTime();
    }

    /** Nothing advances the time while the context is closed, so the shutdown must not wait for it. */
    @Bean
    ShutdownTimeout raddleShutdownTimeout() {
        return new ShutdownTimeout(Duration.ZERO, TimeSource.system());
    }
}
