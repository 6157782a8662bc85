package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;

/** Runs the example as real processes with a real server, and watches it with the real command. */
@Timeout(200)
class FleetExampleTest {
    private static final Pattern SUMMARY =
            Pattern.compile("pages: \\{worker-1=(\\d+), worker-2=(\\d+), worker-3=(\\d+)}");

    private static final int LOOKS = 100; // more than a lease lasts

    @TempDir
    private Path directory;

    private RedisServer server;
    private String uri;

    @BeforeEach
    void start_a_server() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        uri = "redis://127.0.0.1:" + port;
    }

    @AfterEach
    void stop_the_server() throws Exception {
        server.stop();
    }

    private Raddle.Run example(String... arguments) throws Exception {
        String path = System.getProperty("java.class.path");
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                path,
                FleetExample.class.getName());
        builder.command().addAll(List.of(arguments));
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        return new Raddle.Run(builder.start());
    }

    private Map<?, ?> status() throws Exception {
        Raddle.Ended ended = new Raddle(directory)
                .environment("RADDLE_REDIS", uri)
                .run("fleet", "--namespace", FleetExample.NAMESPACE, "--json");
        assertThat(ended.exitCode()).as(ended.err()).isZero();
        return Raddle.json(ended.out());
    }

    private static List<Object> names(Map<?, ?> status) {
        List<Object> names = new ArrayList<>();
        for (Object instance : (List<?>) status.get("instances")) {
            names.add(((Map<?, ?>) instance).get("name"));
        }
        return names;
    }

    private static Map<?, ?> key(Map<?, ?> status) {
        return (Map<?, ?>) ((List<?>) status.get("keys")).getFirst();
    }

    @Test
    void three_processes_keep_one_limit_and_the_permits_of_a_killed_one_come_back() throws Exception {
        Raddle.Run example = example(uri);
        for (String worker : List.of("worker-1", "worker-2", "worker-3")) {
            example.awaitLine(worker + " prints page");
        }

        Map<?, ?> status = status();
        assertThat(names(status)).containsExactly("worker-1", "worker-2", "worker-3");
        assertThat(key(status).get("key")).isEqualTo(FleetExample.KEY);
        assertThat(key(status).get("limit")).isEqualTo(4);
        assertThat((Integer) key(status).get("permits")).isBetween(1, 4);

        example.type("\n");
        example.awaitLine("worker-2 is killed");
        for (int i = 0; i < LOOKS && names(status).contains("worker-2"); i++) {
            status = status();
        }
        assertThat(names(status)).containsExactly("worker-1", "worker-3");
        example.type("\n");
        Raddle.Ended ended = example.end();

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(ended.out()).contains("at most 4 at once, the limit is 4");
        Matcher summary = SUMMARY.matcher(ended.out());
        assertThat(summary.find()).as(ended.out()).isTrue();
        for (int worker = 1; worker <= 3; worker++) {
            assertThat(Integer.parseInt(summary.group(worker))).isPositive();
        }
        assertThat(key(status()).get("holders"))
                .as("all permits are returned, those of the killed worker too")
                .isEqualTo(List.of());
    }
}
