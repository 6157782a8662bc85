package dev.raddle.spring;

import dev.raddle.console.Console;
import dev.raddle.console.ConsoleOptions;
import dev.raddle.console.DurableConsole;
import dev.raddle.group.GroupExecutor;
import dev.raddle.jdbc.FlowService;
import dev.raddle.pool.ThreadPool;
import dev.raddle.task.TaskListener;
import java.nio.file.Path;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Starts the console, if {@code raddle.console.enabled} is set. */
@AutoConfiguration(after = {RaddleAutoConfiguration.class, FlowAutoConfiguration.class})
@ConditionalOnClass(Console.class)
@ConditionalOnBooleanProperty("raddle.console.enabled")
class ConsoleAutoConfiguration {

    /** Watches the executors and pools that are configured by properties. */
    private record Watching(Console console) implements Instrumentation {
        @Override
        public TaskListener listenerFor(String name) {
            return console.listener(name);
        }

        @Override
        public void created(String name, GroupExecutor executor) {
            console.watch(name, executor);
        }

        @Override
        public void created(ThreadPool pool) {
            console.watch(pool);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    Console raddleConsole(RaddleProperties properties, Environment environment) {
        RaddleProperties.Console settings = properties.console();
        ConsoleOptions options = ConsoleOptions.defaults()
                .withPort(settings.port())
                .withHost(settings.host())
                .withControls(settings.controls())
                .withClients(settings.clients())
                .withAllowedHosts(settings.allowedHosts().toArray(String[]::new));
        String application = environment.getProperty("spring.application.name");
        if (application != null) {
            options = options.withTitle(application);
        }
        if (settings.token() != null) {
            options = options.withToken(settings.token());
        } else if (settings.tokenFile() != null) {
            options = options.withTokenFile(Path.of(settings.tokenFile()));
        }
        return Console.start(options);
    }

    @Bean
    Instrumentation raddleConsoleInstrumentation(Console console) {
        return new Watching(console);
    }

    /** Comes first, so that a listener which the application sets replaces the console's. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    ThreadPoolCustomizer raddleConsolePools(Console console) {
        return (name, pool) -> pool.listener(console.poolListener(name));
    }

    /** Watches the flow services, if the application has their library. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(FlowService.class)
    static class OfFlowServices {

        @Bean
        SmartInitializingSingleton raddleConsoleFlowServices(Console console, ObjectProvider<FlowServices> services) {
            return () -> services.ifAvailable(
                    all -> all.created().forEach((name, service) -> DurableConsole.watch(console, name, service)));
        }
    }
}
