package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ends a real process under load: what a client was told is done, and every client gets an answer or an error. */
class SigtermTest {

    private static final int CLIENTS = 8;
    private static final int BEFORE_THE_SIGNAL = 100;

    private final Queue<String> placed = new ConcurrentLinkedQueue<>();
    private final Queue<String> unexpected = new ConcurrentLinkedQueue<>();

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void after_a_sigterm_under_load_no_accepted_task_is_lost_and_no_client_hangs() throws Exception {
        Process server = start();
        try (BufferedReader output = server.inputReader()) {
            int port = portOf(output);
            Set<String> sent = new TreeSet<>();
            Thread reader = Thread.ofVirtual()
                    .start(() -> output.lines()
                            .filter(line -> line.startsWith("sent "))
                            .forEach(line -> sent.add(line.substring(5))));
            CountDownLatch underLoad = new CountDownLatch(BEFORE_THE_SIGNAL);
            List<Thread> clients = new ArrayList<>();
            for (int client = 0; client < CLIENTS; client++) {
                String name = "c" + client;
                clients.add(Thread.ofVirtual().start(() -> placeUntilRefused(port, name, underLoad)));
            }
            underLoad.await();
            server.toHandle().destroy(); // SIGTERM; that of the process would close its output, too

            for (Thread client : clients) {
                client.join();
            }
            assertThat(server.waitFor()).isEqualTo(143);
            reader.join();
            assertThat(unexpected).isEmpty();
            assertThat(placed).hasSizeGreaterThanOrEqualTo(BEFORE_THE_SIGNAL);
            assertThat(sent).containsAll(placed);
        } finally {
            server.destroyForcibly();
        }
    }

    private void placeUntilRefused(int port, String client, CountDownLatch underLoad) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (int i = 0; ; i++) {
                String id = client + "-" + i;
                HttpRequest request = HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:" + port + "/orders?tenant=" + client + "&id=" + id))
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .timeout(Duration.ofMinutes(1)) // a client that hangs fails the test
                        .build();
                String answer = http.send(request, BodyHandlers.ofString()).body();
                if (answer.equals("placed " + id)) {
                    placed.add(id);
                    underLoad.countDown();
                } else if (!answer.equals("refused") && !answer.contains("503")) {
                    unexpected.add(answer);
                    return;
                }
            }
        } catch (java.net.http.HttpTimeoutException hung) {
            unexpected.add(client + " got no answer");
        } catch (IOException | InterruptedException refused) {
            // the server has closed the connection, or does not listen any more
        }
    }

    private static Process start() throws IOException {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return new ProcessBuilder(
                        java.toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ShopServer.class.getName(),
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--raddle.redis.enabled=false",
                        "--raddle.groups.mail.max-concurrency=1",
                        "--raddle.shutdown.timeout=2m",
                        "--spring.lifecycle.timeout-per-shutdown-phase=1m")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static int portOf(BufferedReader output) throws IOException {
        StringBuilder log = new StringBuilder();
        for (String line; (line = output.readLine()) != null; ) {
            if (line.startsWith("port ")) {
                return Integer.parseInt(line.substring(5));
            }
            log.append(line).append('\n');
        }
        throw new AssertionError("the server did not start:\n" + log);
    }
}
