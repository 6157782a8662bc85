package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FanInServerExampleTest {

    private record Client(Socket socket, BufferedReader answers) implements AutoCloseable {
        static Client of(ServerSocket server) throws IOException {
            Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
            return new Client(socket, FanInServerExample.reader(socket));
        }

        String send(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            return answers.readLine();
        }

        /** Waits until the server closes the connection. Returns false if it sends a character instead. */
        boolean awaitClosed() {
            try {
                return answers.read() == -1;
            } catch (IOException reset) {
                return true;
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static ServerSocket newServerSocket() throws IOException {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @Test
    void every_answered_line_is_counted_when_the_server_socket_is_closed() throws Exception {
        try (ServerSocket server = newServerSocket();
                ThreadScope scope = ThreadScope.open()) {
            Task<Map<String, Long>> sums = scope.submit("server", () -> FanInServerExample.serve(server));
            List<Task<String>> clients = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                String own = "client-" + i % 2 + " 10";
                clients.add(scope.submit(() -> {
                    try (Client client = Client.of(server)) {
                        return client.send(own) + client.send("all 1");
                    }
                }));
            }
            assertThat(scope.awaitAll(clients)).containsOnly("okok");

            server.close();

            assertThat(sums.await()).isEqualTo(Map.of("client-0", 100L, "client-1", 100L, "all", 20L));
        }
    }

    @Test
    void a_connected_client_does_not_prevent_the_server_from_closing() throws Exception {
        try (ServerSocket server = newServerSocket();
                ThreadScope scope = ThreadScope.open();
                Client stays = Client.of(server)) {
            Task<Map<String, Long>> sums = scope.submit("server", () -> FanInServerExample.serve(server));
            assertThat(stays.send("a 1")).isEqualTo("ok");

            server.close();

            assertThat(sums.await()).isEqualTo(Map.of("a", 1L));
            assertThat(stays.awaitClosed()).isTrue();
        }
    }

    @Test
    void a_client_that_sends_an_invalid_line_loses_its_connection_and_no_other_client_does() throws Exception {
        try (ServerSocket server = newServerSocket();
                ThreadScope scope = ThreadScope.open();
                Client good = Client.of(server);
                Client bad = Client.of(server)) {
            Task<Map<String, Long>> sums = scope.submit("server", () -> FanInServerExample.serve(server));
            assertThat(good.send("a 1")).isEqualTo("ok");
            assertThat(bad.send("a much")).isNull();
            assertThat(good.send("a 2")).isEqualTo("ok");

            server.close();

            assertThat(sums.await()).isEqualTo(Map.of("a", 3L));
        }
    }
}
