package dev.raddle.examples.reports;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A service that runs in this process, on a free port of the loopback interface and without a console. */
record Service(ConfigurableApplicationContext context) implements AutoCloseable {

    private static final List<String> UNLESS_TOLD =
            List.of("--server.port=0", "--raddle.console.enabled=false", "--reports.directory=target/nightly");

    static Service start(boolean limits, Class<?>... further) {
        return start(List.of("--raddle.grouped.enabled=" + limits), further);
    }

    static Service start(List<String> properties, Class<?>... further) {
        List<String> arguments = new ArrayList<>(properties);
        for (String unlessTold : UNLESS_TOLD) {
            String name = unlessTold.substring(0, unlessTold.indexOf('=') + 1);
            if (properties.stream().noneMatch(property -> property.startsWith(name))) {
                arguments.add(unlessTold);
            }
        }
        return new Service(new SpringApplicationBuilder(ReportsApplication.class)
                .sources(further)
                .run(arguments.toArray(String[]::new)));
    }

    URI address() {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return URI.create("http://127.0.0.1:" + port);
    }

    @Override
    public void close() {
        context.close();
    }
}
