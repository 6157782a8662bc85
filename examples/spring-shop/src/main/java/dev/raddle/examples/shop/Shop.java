package dev.raddle.examples.shop;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A shop that runs in this process, on a free port of the loopback interface. */
record Shop(ConfigurableApplicationContext context) implements AutoCloseable {

    static Shop start(boolean limits, Class<?>... further) {
        return start(List.of("--raddle.grouped.enabled=" + limits), further);
    }

    static Shop start(List<String> properties, Class<?>... further) {
        List<String> arguments = new ArrayList<>(properties);
        arguments.add("--server.port=0");
        return new Shop(new SpringApplicationBuilder(ShopApplication.class)
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
