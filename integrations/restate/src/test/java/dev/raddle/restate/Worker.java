package dev.raddle.restate;

import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.InvocationRetryPolicy;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.time.Duration;

/** Serves flows on a loopback port, in this JVM. */
final class Worker implements AutoCloseable {
    private final Vertx vertx = Vertx.vertx();
    private final HttpServer server;

    private Worker(ServiceDefinition service, int port) {
        Endpoint endpoint = Endpoint.bind(service).build();
        server = RestateHttpServer.fromEndpoint(vertx, endpoint)
                .listen(port, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join();
    }

    static Worker serve(ServiceDefinition service) {
        return serve(service, 0);
    }

    static Worker serve(ServiceDefinition service, int port) {
        return new Worker(withQuickRetries(service), port);
    }

    private static ServiceDefinition withQuickRetries(ServiceDefinition service) {
        return service.configure(each -> each.invocationRetryPolicy(InvocationRetryPolicy.builder()
                .initialInterval(Duration.ofMillis(50))
                .exponentiationFactor(2.0)
                .maxInterval(Duration.ofMillis(500))));
    }

    /** Makes the engine suspend each run as soon as it waits, so that it is replayed after each step. */
    static ServiceDefinition suspendedAlways(ServiceDefinition service) {
        return service.configure(each -> each.inactivityTimeout(Duration.ZERO));
    }

    int port() {
        return server.actualPort();
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
