package dev.raddle.bench;

import dev.raddle.processes.RestateServer;
import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;

/** A real Restate server, which forces what it stores to the disk, and a worker in this JVM. */
final class RestateProcess implements AutoCloseable {

    private static final Path REPOSITORY = Path.of("");
    private static final Map<String, String> FORCING = Map.of(
            "RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC", "false",
            "RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_FSYNC", "false");

    private final RestateServer server;
    private final Vertx vertx = Vertx.vertx();

    private RestateProcess(RestateServer server) {
        this.server = server;
    }

    /** Returns why there is no server, or an empty text. */
    static String missing() {
        return RestateServer.missing(REPOSITORY);
    }

    static RestateProcess start() throws IOException {
        return new RestateProcess(RestateServer.start(
                RestateServer.executable(REPOSITORY), BenchDirectory.create("durable-restate"), FORCING));
    }

    /** Serves a service in this JVM, until this object is closed. */
    void serve(ServiceDefinition service) {
        int port = RestateHttpServer.fromEndpoint(vertx, Endpoint.bind(service).build())
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join()
                .actualPort();
        server.register(port);
    }

    /** Executes a run of a workflow to its end. */
    void run(String service, String id) {
        server.send(server.ingress("/" + service + "/" + id + "/run").POST(BodyPublishers.noBody()))
                .value();
    }

    /** Returns how many results of actions the engine has stored for the only run with an id. */
    long storedResults(String id) {
        String rows = server.query("SELECT j.entry_type FROM sys_journal j JOIN sys_invocation i ON i.id = j.id"
                + " WHERE i.target_service_key = '" + id + "'");
        return Pattern.compile("\"Notification: Run\"").matcher(rows).results().count();
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
        server.close();
    }
}
