package dev.raddle.examples.orders;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A real server of Restate on free loopback ports. Its program is the one that the tests of {@code raddle-restate} have
 * installed, or where {@code RADDLE_RESTATE_SERVER} says.
 *
 * @param process the process
 * @param calls the URL for calls
 * @param admin the URL of its administration
 */
record RestateServer(Process process, String calls, String admin) implements AutoCloseable {

    private static final String HOST = "127.0.0.1:";
    private static final long LOOK_EVERY = 50_000_000;

    /** Skips a test, and says why, if the program is not there. */
    static final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            Path program = program();
            if (Files.isExecutable(program)) {
                return ConditionEvaluationResult.enabled("Restate's server is there");
            }
            String reason =
                    "there is no server of Restate, which the tests of raddle-restate install with npm: " + program;
            System.out.println("skipped: " + reason);
            return ConditionEvaluationResult.disabled(reason);
        }
    }

    private static Path program() {
        String given = System.getenv("RADDLE_RESTATE_SERVER");
        if (given != null) {
            return Path.of(given);
        }
        boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac");
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        String platform = (mac ? "darwin" : "linux") + "-" + (arm ? "arm64" : "x64");
        return Path.of("../../integrations/restate/target/restate-server/node_modules/@restatedev")
                .resolve("restate-server-" + platform)
                .resolve("bin/restate-server")
                .toAbsolutePath();
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Starts a server with an empty directory, and waits until it answers. */
    static RestateServer start(Path directory) throws IOException, InterruptedException {
        String node = HOST + freePort();
        String calls = HOST + freePort();
        String admin = HOST + freePort();
        ProcessBuilder builder = new ProcessBuilder(program().toString(), "--no-logo")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("engine.log").toFile());
        builder.environment()
                .putAll(Map.of(
                        "RESTATE_BASE_DIR",
                        directory.resolve("engine").toString(),
                        "RESTATE_LISTEN_MODE",
                        "tcp",
                        "RESTATE_BIND_ADDRESS",
                        node,
                        "RESTATE_ADVERTISED_ADDRESS",
                        "http://" + node,
                        "RESTATE_INGRESS__BIND_ADDRESS",
                        calls,
                        "RESTATE_ADMIN__BIND_ADDRESS",
                        admin,
                        "RESTATE_DEFAULT_NUM_PARTITIONS",
                        "1",
                        "RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE",
                        "256MiB",
                        "RESTATE_DISABLE_TELEMETRY",
                        "true"));
        Process process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        RestateServer server = new RestateServer(process, "http://" + calls, "http://" + admin);
        while (!answers(server.admin + "/health") || !answers(server.calls + "/restate/health")) {
            if (!process.isAlive()) {
                throw new IllegalStateException(Files.readString(directory.resolve("engine.log")));
            }
            LockSupport.parkNanos(LOOK_EVERY);
        }
        return server;
    }

    private static boolean answers(String url) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (ConnectException notYet) {
            return false;
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
