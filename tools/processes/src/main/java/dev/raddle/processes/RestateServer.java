package dev.raddle.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/** A real server of Restate. */
public final class RestateServer implements AutoCloseable {

    /** The environment variable that names the program. */
    public static final String VARIABLE = "RADDLE_RESTATE_SERVER";

    /** Settings that make a server small and quick. */
    public static final Map<String, String> SMALL =
            Map.of("RESTATE_DEFAULT_NUM_PARTITIONS", "1", "RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "256MiB");

    private static final String HOST = "127.0.0.1:";
    private static final String JSON = "application/json";
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    private final Path executable;
    private final Map<String, String> settings;
    private final ServerProcess process;

    private RestateServer(Path executable, ProcessDirectory directory, Map<String, String> settings) {
        this.executable = executable;
        this.settings = settings;
        process = new ServerProcess(new Program(), directory);
    }

    /**
     * Starts a server without any data.
     *
     * @param directory the directory of the server, which is deleted with it
     * @param settings environment variables, in addition to those of every server
     */
    public static RestateServer start(Path executable, ProcessDirectory directory, Map<String, String> settings) {
        RestateServer server = new RestateServer(executable, directory, settings);
        server.process.start();
        return server;
    }

    /**
     * Returns the executable that {@value #VARIABLE} names, or the one that the tests of raddle-restate install.
     *
     * @param repository the root of the repository
     */
    public static Path executable(Path repository) {
        String given = System.getenv(VARIABLE);
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x64";
        Path installed = repository
                .resolve("integrations/restate/target/restate-server/node_modules/@restatedev")
                .resolve("restate-server-" + system + "-" + processor)
                .resolve("bin/restate-server");
        return given != null ? Path.of(given) : installed.toAbsolutePath().normalize();
    }

    /** Returns why there is no executable, or an empty text. */
    public static String missing(Path repository) {
        Path executable = executable(repository);
        return Files.isExecutable(executable)
                ? ""
                : "there is no server " + executable + "; the tests of raddle-restate install one, " + VARIABLE
                        + " names another";
    }

    private final class Program implements ServerProgram {
        @Override
        public int[] ports() {
            return LoopbackPorts.free(3);
        }

        @Override
        public ProcessBuilder command(ServerProcess server) {
            ProcessBuilder command = new ProcessBuilder(executable.toString(), "--no-logo");
            Map<String, String> variables = command.environment();
            variables.put(
                    "RESTATE_CLUSTER_NAME", String.valueOf(server.directory().getFileName()));
            variables.put("RESTATE_NODE_NAME", "node");
            variables.put("RESTATE_BASE_DIR", server.data().toString());
            variables.put("RESTATE_LISTEN_MODE", "tcp");
            variables.put("RESTATE_INGRESS__BIND_ADDRESS", HOST + server.port(0));
            variables.put("RESTATE_ADMIN__BIND_ADDRESS", HOST + server.port(1));
            variables.put("RESTATE_BIND_ADDRESS", HOST + server.port(2));
            variables.put("RESTATE_ADVERTISED_ADDRESS", "http://" + HOST + server.port(2));
            variables.put("RESTATE_DISABLE_TELEMETRY", "true");
            variables.put("RESTATE_LOG_DISABLE_ANSI_CODES", "true");
            variables.put("DO_NOT_TRACK", "1");
            variables.putAll(settings);
            return command;
        }

        @Override
        public boolean isReady(ServerProcess server) {
            try {
                return send(admin("/health")).status() == 200
                        && send(ingress("/restate/health")).status() == 200;
            } catch (UncheckedIOException notYet) {
                return false;
            }
        }
    }

    /** Kills the server, with SIGKILL. */
    public void kill() {
        process.kill();
    }

    /** Starts a killed server on its ports with the data that it had on its disk. */
    public void restart() {
        process.restart();
    }

    public String log() {
        return process.log();
    }

    @Override
    public void close() {
        process.close();
    }

    // Its administration.

    public String adminUrl() {
        return "http://" + HOST + process.port(1);
    }

    /** Returns a request to the administration. */
    public HttpRequest.Builder admin(String path) {
        return request(adminUrl() + path, JSON).header("accept", JSON);
    }

    /** Registers the services of a worker, and replaces an earlier registration of the same address. */
    public void register(int port) {
        String body = "{\"uri\": \"http://" + HOST + port + "/\", \"force\": true}";
        send(admin("/deployments").POST(BodyPublishers.ofString(body))).value();
    }

    /** Returns the rows of a query, as JSON. */
    public String query(String sql) {
        String body = "{\"query\": \"" + sql.replace("\"", "\\\"") + "\"}";
        return new String(
                send(admin("/query").POST(BodyPublishers.ofString(body))).value(), StandardCharsets.UTF_8);
    }

    // Its services.

    public String ingressUrl() {
        return "http://" + HOST + process.port(0);
    }

    /** Returns a request to the services. */
    public HttpRequest.Builder ingress(String path) {
        return request(ingressUrl() + path, "application/octet-stream");
    }

    private static HttpRequest.Builder request(String url, String type) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(Await.BOUND).header("content-type", type);
    }

    /** Sends a request and waits for its answer. */
    public Answer send(HttpRequest.Builder builder) {
        HttpRequest request = builder.build();
        try {
            return new Answer(CLIENT.send(request, BodyHandlers.ofByteArray()));
        } catch (IOException e) {
            throw new UncheckedIOException(request.uri() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** An answer of the server. */
    public record Answer(HttpResponse<byte[]> response) {
        public int status() {
            return response.statusCode();
        }

        public String text() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        /** Returns the body; throws if the status is not that of a success. */
        public byte[] value() {
            if (status() / 100 != 2) {
                throw new IllegalStateException("the server answered " + status() + ": " + text());
            }
            return response.body();
        }
    }
}
