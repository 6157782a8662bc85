package dev.raddle.restate;

import dev.raddle.processes.Await;
import dev.raddle.processes.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A real Restate server on free loopback ports, with a directory of its own. Closing it kills it by its process id and
 * removes the directory; a JVM that ends without closing does the same.
 */
final class Engine implements AutoCloseable {

    /** An answer of the engine. */
    record Answer(int status, byte[] body) {
        String text() {
            return new String(body, java.nio.charset.StandardCharsets.UTF_8);
        }

        /** Returns the body; throws if the status is not that of a success. */
        byte[] value() {
            if (status / 100 != 2) {
                throw new AssertionError("the engine answered " + status + ": " + text());
            }
            return body;
        }
    }

    private static final int ATTEMPTS = 5;

    private final Path executable;
    private final Map<String, String> settings;
    private final Path directory;
    private final Thread atExit = new Thread(this::end, "end-of-engine");
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private int ingress;
    private int admin;
    private int node;
    private @Nullable Process process;

    private Engine(Path executable, Map<String, String> settings) throws IOException {
        this.executable = executable;
        this.settings = settings;
        directory = Files.createTempDirectory("raddle-restate-");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * Starts an engine.
     *
     * @param settings environment variables, in addition to the ones that make it small and quick
     */
    static Engine start(Path executable, Map<String, String> settings) {
        try {
            Engine engine = new Engine(executable, settings);
            engine.startOnFreePorts();
            return engine;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // Its life.

    /** Kills the server, with SIGKILL. */
    void kill() {
        Process running = process;
        if (running != null) {
            Signals.kill(running);
            process = null;
        }
    }

    /** Starts a killed server on its ports with the data that it had on its disk. */
    void restart() {
        if (!launch()) {
            throw new IllegalStateException("the engine does not start again:\n" + log());
        }
    }

    /** Other processes may take a port between the look for a free one and the start. */
    private void startOnFreePorts() throws IOException {
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            int[] ports = Ports.free(3);
            ingress = ports[0];
            admin = ports[1];
            node = ports[2];
            if (launch()) {
                return;
            }
            kill();
        }
        String log = log();
        close();
        throw new IOException("the engine does not start:\n" + log);
    }

    private boolean launch() {
        ProcessBuilder builder = new ProcessBuilder(executable.toString(), "--no-logo")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
        builder.environment().putAll(environment());
        builder.environment().putAll(settings);
        try {
            Process started = builder.start();
            process = started;
            return Await.within(Await.BOUND, () -> !started.isAlive() || isReady()) && started.isAlive();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Map<String, String> environment() {
        Map<String, String> variables = new HashMap<>();
        variables.put("RESTATE_CLUSTER_NAME", "raddle-" + directory.getFileName());
        variables.put("RESTATE_NODE_NAME", "node");
        variables.put("RESTATE_BASE_DIR", directory.resolve("data").toString());
        variables.put("RESTATE_LISTEN_MODE", "tcp");
        variables.put("RESTATE_BIND_ADDRESS", "127.0.0.1:" + node);
        variables.put("RESTATE_ADVERTISED_ADDRESS", "http://127.0.0.1:" + node);
        variables.put("RESTATE_INGRESS__BIND_ADDRESS", "127.0.0.1:" + ingress);
        variables.put("RESTATE_ADMIN__BIND_ADDRESS", "127.0.0.1:" + admin);
        variables.put("RESTATE_DEFAULT_NUM_PARTITIONS", "1");
        variables.put("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MiB");
        variables.put("RESTATE_DISABLE_TELEMETRY", "true");
        variables.put("RESTATE_LOG_DISABLE_ANSI_CODES", "true");
        variables.put("DO_NOT_TRACK", "1");
        return variables;
    }

    private boolean isReady() {
        try {
            return get(admin, "/health").status() == 200
                    && get(ingress, "/restate/health").status() == 200;
        } catch (UncheckedIOException e) {
            return false; // not yet
        }
    }

    String log() {
        try {
            return Files.readString(logFile());
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    private Path logFile() {
        return directory.resolve("log");
    }

    @Override
    public void close() {
        end();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }

    private void end() {
        kill();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // Its administration.

    /** Registers the services of a worker, and replaces an earlier registration of the same address. */
    void register(int port) {
        String body = "{\"uri\": \"http://127.0.0.1:" + port + "/\", \"force\": true}";
        post(admin, "/deployments", body.getBytes(java.nio.charset.StandardCharsets.UTF_8), "application/json")
                .value();
    }

    /** Returns the rows of a query, as JSON. */
    String query(String sql) {
        String body = "{\"query\": \"" + sql.replace("\"", "\\\"") + "\"}";
        HttpRequest request = request(admin, "/query")
                .header("content-type", "application/json")
                .header("accept", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return send(request).text();
    }

    /** Returns the id of the invocation of a flow. */
    String invocation(String service, String run) {
        String rows = query("SELECT id FROM sys_invocation WHERE target = '" + service + "/" + run + "/run'");
        Matcher id = Pattern.compile("inv_[A-Za-z0-9]+").matcher(rows);
        if (!id.find()) {
            throw new AssertionError("no invocation of run " + run + " of " + service + ": " + rows);
        }
        return id.group();
    }

    /** Returns the names of the journal's entries of a flow, in their order. */
    List<String> journal(String service, String run) {
        String rows = query("SELECT index, name, entry_type FROM sys_journal WHERE id = '" + invocation(service, run)
                + "' ORDER BY index");
        return Pattern.compile("\\{[^}]*}")
                .matcher(rows)
                .results()
                .map(row -> row.group())
                .toList();
    }

    /** Returns the failure of the last attempt of a flow, as JSON. */
    String lastFailure(String service, String run) {
        return query("SELECT last_failure FROM sys_invocation WHERE target = '" + service + "/" + run + "/run'");
    }

    void cancel(String service, String run) {
        end(service, run, "cancel");
    }

    /** Ends a flow without asking its worker. */
    void killRun(String service, String run) {
        end(service, run, "kill");
    }

    private void end(String service, String run, String how) {
        HttpRequest request = request(admin, "/invocations/" + invocation(service, run) + "/" + how)
                .method("PATCH", HttpRequest.BodyPublishers.noBody())
                .build();
        send(request).value();
    }

    // Its callers.

    /** Begins a flow, without waiting for its end. */
    void submit(String service, String run, byte[] parameter) {
        post(ingress, "/" + service + "/" + run + "/run/send", parameter, "application/octet-stream")
                .value();
    }

    /** Runs a flow and waits for its end. */
    Answer run(String service, String run, byte[] parameter) {
        return post(ingress, "/" + service + "/" + run + "/run", parameter, "application/octet-stream");
    }

    /** Waits for the end of a flow. */
    Answer attach(String service, String run) {
        return get(ingress, "/restate/workflow/" + service + "/" + run + "/attach");
    }

    CompletableFuture<Answer> attachLater(String service, String run) {
        return CompletableFuture.supplyAsync(
                () -> attach(service, run), task -> Thread.ofVirtual().start(task));
    }

    /** Calls a handler of a flow. */
    Answer call(String service, String run, String handler, byte[] body, Map<String, String> headers) {
        HttpRequest.Builder request = request(ingress, "/" + service + "/" + run + "/" + handler)
                .header("content-type", "application/octet-stream")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        return send(request.build());
    }

    private Answer get(int port, String path) {
        return send(request(port, path).GET().build());
    }

    private Answer post(int port, String path, byte[] body, String type) {
        HttpRequest request = request(port, path)
                .header("content-type", type)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return send(request);
    }

    private static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Await.BOUND);
    }

    private Answer send(HttpRequest request) {
        try {
            HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(request.uri() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Free ports of the loopback interface. */
    static final class Ports {
        private Ports() {}

        static int[] free(int count) throws IOException {
            ServerSocket[] sockets = new ServerSocket[count];
            int[] ports = new int[count];
            try {
                for (int i = 0; i < count; i++) {
                    sockets[i] = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    ports[i] = sockets[i].getLocalPort();
                }
            } finally {
                for (ServerSocket socket : sockets) {
                    if (socket != null) {
                        socket.close();
                    }
                }
            }
            return ports;
        }
    }
}
