package dev.raddle.spring;

import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** Maps the path of the endpoint to the console, in the server that has the endpoints. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnBean(ConsoleEndpoint.class)
class ConsolePathConfiguration {

    /** Comes before the mapping of the operations. */
    @Bean
    SimpleUrlHandlerMapping raddleConsoleMapping(PathMappedEndpoints paths, ConsoleEndpoint endpoint) {
        return new SimpleUrlHandlerMapping(
                Map.of(paths.getPath(ConsoleEndpoint.ID) + "/**", endpoint), Ordered.HIGHEST_PRECEDENCE);
    }
}
