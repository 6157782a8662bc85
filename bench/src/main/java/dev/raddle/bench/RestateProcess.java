package dev.raddle.bench;

import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A real Restate server on free ports of the loopback address, which forces what it stores to the disk, and a worker in
 * this JVM.
 */
final class RestateProcess implements AutoCloseable {

    private static final String VARIABLE = "RADDLE_RESTATE_SERVER";
    private static final Path INSTALLED =
            Path.of("integrations", "restate", "target", "restate-server", "node_modules");

    private final BenchDirectory directory;
    private final ServerProcess server;
    private final int ingress;
    private final int admin;
    private final HttpClient client;
    private final Vertx vertx = Vertx.vertx();

    private RestateProcess(BenchDirectory directory, ServerProcess server, int ingress, int admin, HttpClient client) {
        this.directory = directory;
        this.server = server;
        this.ingress = ingress;
        this.admin = admin;
        this.client = client;
    }

    /** Returns why there is no server, or an empty text. */
    static String missing() {
        Path program = program();
        return Files.isExecutable(program)
                ? ""
                : "there is no server " + program + "; the tests of raddle-restate install one, " + VARIABLE
                        + " names another";
    }

    private static Path program() {
        String given = System.getenv(VARIABLE);
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x64";
        return given != null
                ? Path.of(given)
                : INSTALLED.resolve(
                        Path.of("@restatedev", "restate-server-" + system + "-" + processor, "bin", "restate-server"));
    }

    static RestateProcess start() throws IOException {
        BenchDirectory directory = BenchDirectory.create("durable-restate");
        int ingress = ServerProcess.freePort();
        int admin = ServerProcess.freePort();
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ServerProcess server = ServerProcess.start(
                List.of(program().toAbsolutePath().toString(), "--no-logo"),
                environment(directory.path(), ingress, admin, ServerProcess.freePort()),
                directory.path().resolve("log"),
                () -> isReady(client, admin, "/health") && isReady(client, ingress, "/restate/health"));
        return new RestateProcess(directory, server, ingress, admin, client);
    }

    private static Map<String, String> environment(Path directory, int ingress, int admin, int node) {
        Map<String, String> variables = new HashMap<>();
        variables.put("RESTATE_CLUSTER_NAME", directory.getFileName().toString());
        variables.put("RESTATE_NODE_NAME", "node");
        variables.put("RESTATE_BASE_DIR", directory.resolve("data").toString());
        variables.put("RESTATE_LISTEN_MODE", "tcp");
        variables.put("RESTATE_BIND_ADDRESS", "127.0.0.1:" + node);
        variables.put("RESTATE_ADVERTISED_ADDRESS", "http://127.0.0.1:" + node);
        variables.put("RESTATE_INGRESS__BIND_ADDRESS", "127.0.0.1:" + ingress);
        variables.put("RESTATE_ADMIN__BIND_ADDRESS", "127.0.0.1:" + admin);
        variables.put("RESTATE_LOG_SERVER__ROCKSDB_DISABLE_WAL_FSYNC", "false");
        variables.put("RESTATE_BIFROST__LOCAL__ROCKSDB_DISABLE_WAL_FSYNC", "false");
        variables.put("RESTATE_DISABLE_TELEMETRY", "true");
        variables.put("RESTATE_LOG_DISABLE_ANSI_CODES", "true");
        variables.put("DO_NOT_TRACK", "1");
        return variables;
    }

    private static boolean isReady(HttpClient client, int port, String path) {
        try {
            return client.send(request(port, path).build(), HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException notYet) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(EmptyNodes.PATIENCE_SECONDS));
    }

    /** Serves a service in this JVM, until this object is closed. */
    void serve(ServiceDefinition service) throws IOException, InterruptedException {
        int port = RestateHttpServer.fromEndpoint(vertx, Endpoint.bind(service).build())
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .join()
                .actualPort();
        post(admin, "/deployments", "{\"uri\": \"http://127.0.0.1:" + port + "/\"}", "application/json");
    }

    /** Executes a run of a workflow to its end. */
    void run(String service, String id) throws IOException, InterruptedException {
        post(ingress, "/" + service + "/" + id + "/run", "", "application/octet-stream");
    }

    /** Returns how many results of actions the engine has stored for the only run with an id. */
    long storedResults(String id) throws IOException, InterruptedException {
        String rows = query("SELECT j.entry_type FROM sys_journal j JOIN sys_invocation i ON i.id = j.id"
                + " WHERE i.target_service_key = '" + id + "'");
        return Pattern.compile("\"Notification: Run\"").matcher(rows).results().count();
    }

    private String query(String sql) throws IOException, InterruptedException {
        return post(admin, "/query", "{\"query\": \"" + sql + "\"}", "application/json");
    }

    private String post(int port, String path, String body, String type) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(
                request(port, path)
                        .header("content-type", type)
                        .header("accept", type)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) {
            throw new IOException("the engine answered " + response.statusCode() + ": " + response.body());
        }
        return response.body();
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
        client.close();
        server.kill();
        directory.close();
    }
}
