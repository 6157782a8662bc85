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
        static Client of(ServerSocket door) throws IOException {
            Socket socket = new Socket(door.getInetAddress(), door.getLocalPort());
            return new Client(socket, FanInServerExample.reader(socket));
        }

        String send(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            return answers.readLine();
        }

        /** Tells whether the server has closed the connection; waits until it does. */
        boolean isOver() {
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

    private static ServerSocket newDoor() throws IOException {
        return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @Test
    void everything_that_was_answered_is_counted_when_the_door_is_closed() throws Exception {
        try (ServerSocket door = newDoor();
                ThreadScope scope = ThreadScope.open()) {
            Task<Map<String, Long>> server = scope.submit("server", () -> FanInServerExample.serve(door));
            List<Task<String>> clients = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                String own = "client-" + i % 2 + " 10";
                clients.add(scope.submit(() -> {
                    try (Client client = Client.of(door)) {
                        return client.send(own) + client.send("all 1");
                    }
                }));
            }
            assertThat(scope.awaitAll(clients)).containsOnly("okok");

            door.close();

            assertThat(server.await()).isEqualTo(Map.of("client-0", 100L, "client-1", 100L, "all", 20L));
        }
    }

    @Test
    void a_client_that_stays_does_not_keep_the_server_from_closing() throws Exception {
        try (ServerSocket door = newDoor();
                ThreadScope scope = ThreadScope.open();
                Client stays = Client.of(door)) {
            Task<Map<String, Long>> server = scope.submit("server", () -> FanInServerExample.serve(door));
            assertThat(stays.send("a 1")).isEqualTo("ok");

            door.close();

            assertThat(server.await()).isEqualTo(Map.of("a", 1L));
            assertThat(stays.isOver()).isTrue();
        }
    }

    @Test
    void a_client_that_talks_nonsense_loses_its_connection_and_nobody_else_does() throws Exception {
        try (ServerSocket door = newDoor();
                ThreadScope scope = ThreadScope.open();
                Client good = Client.of(door);
                Client bad = Client.of(door)) {
            Task<Map<String, Long>> server = scope.submit("server", () -> FanInServerExample.serve(door));
            assertThat(good.send("a 1")).isEqualTo("ok");
            assertThat(bad.send("a much")).isNull();
            assertThat(good.send("a 2")).isEqualTo("ok");

            door.close();

            assertThat(server.await()).isEqualTo(Map.of("a", 3L));
        }
    }
}
