package dev.raddle.spring;

import dev.raddle.console.Console;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.DispatcherServlet;

/** Configures the console as an endpoint of Actuator. */
@AutoConfiguration(after = ConsoleAutoConfiguration.class, before = ManagementContextAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Console.class, Endpoint.class, ConditionalOnAvailableEndpoint.class, DispatcherServlet.class})
@ConditionalOnBean(Console.class)
@ConditionalOnAvailableEndpoint(ConsoleEndpoint.class)
class ConsoleEndpointAutoConfiguration {

    @Bean
    ConsoleEndpoint raddleConsoleEndpoint(Console console, EndpointAccessResolver access) {
        return new ConsoleEndpoint(console, access.accessFor(ConsoleEndpoint.ID, Access.UNRESTRICTED));
    }
}
