package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.redis.FaultProxy.Direction;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The proxy damages exactly what its methods name. The server of these tests is one socket. */
class FaultProxyTest {

    private ServerSocket target;
    private final BlockingQueue<Socket> arrived = new LinkedBlockingQueue<>();
    private FaultProxy proxy;
    private Socket client;
    private Socket server;

    @BeforeEach
    void connect() throws Exception {
        target = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::acceptAll);
        proxy = new FaultProxy(target.getLocalPort());
        client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        server = arrived.poll(60, TimeUnit.SECONDS);
    }

    private void acceptAll() {
        try {
            while (true) {
                arrived.add(target.accept());
            }
        } catch (IOException e) {
            assertThat(target.isClosed()).isTrue();
        }
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        proxy.close();
        target.close();
    }

    private static void write(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    private static String read(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
    }

    /** Reads until the connection ends. */
    private static String readAll(Socket socket) {
        StringBuilder text = new StringBuilder();
        try {
            InputStream in = socket.getInputStream();
            for (int c; (c = in.read()) >= 0; ) {
                text.append((char) c);
            }
        } catch (IOException e) {
            text.append(""); // reset: also an end
        }
        return text.toString();
    }

    @Test
    void without_faults_bytes_pass_both_ways() throws IOException {
        write(client, "ping");
        assertThat(read(server, 4)).isEqualTo("ping");
        write(server, "pong");
        assertThat(read(client, 4)).isEqualTo("pong");
    }

    @Test
    void a_cut_ends_a_connection_and_allows_the_next_one() throws Exception {
        proxy.cut();
        assertThat(readAll(client)).isEmpty();
        try (Socket next = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
                Socket accepted = arrived.poll(60, TimeUnit.SECONDS)) {
            write(next, "x");
            assertThat(read(accepted, 1)).isEqualTo("x");
        }
    }

    @Test
    void a_refusing_proxy_ends_new_connections_at_once() throws IOException {
        proxy.refuse();
        try (Socket next = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            assertThat(readAll(next)).isEmpty();
        }
        assertThat(arrived).isEmpty();
    }

    @Test
    void a_silent_direction_holds_bytes_back_and_loses_none() throws IOException {
        proxy.silence(Direction.TO_SERVER);
        write(client, "late");
        write(server, "other way");
        assertThat(read(client, 9)).isEqualTo("other way");
        assertThat(server.getInputStream().available()).isZero();
        proxy.forward(Direction.TO_SERVER);
        assertThat(read(server, 4)).isEqualTo("late");
    }

    @Test
    void a_stream_breaks_after_the_given_number_of_bytes() throws IOException {
        proxy.cutAfter(Direction.TO_SERVER, 6);
        write(client, "abc");
        assertThat(read(server, 3)).isEqualTo("abc");
        write(client, "defghi");
        assertThat(readAll(server)).isEqualTo("def");
    }

    @Test
    void a_chunk_is_repeated_in_part_before_the_connection_breaks() throws IOException {
        proxy.repeat(Direction.TO_SERVER, 50);
        write(client, "abcd");
        assertThat(readAll(server)).isEqualTo("abcdab");
    }

    @Test
    void a_delayed_chunk_arrives_no_earlier_than_its_delay() throws IOException {
        Duration delay = Duration.ofMillis(30);
        proxy.delay(Direction.TO_SERVER, delay);
        long begin = System.nanoTime();
        write(client, "x");
        assertThat(read(server, 1)).isEqualTo("x");
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(delay.toNanos());
    }

    @Test
    void a_proxy_that_leads_elsewhere_breaks_what_led_here() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            proxy.lead(other.getLocalPort());
            assertThat(readAll(client)).isEmpty();
            try (Socket next = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
                    Socket accepted = other.accept()) {
                write(next, "x");
                assertThat(read(accepted, 1)).isEqualTo("x");
            }
        }
    }

    @Test
    void a_proxy_without_a_server_ends_connections() throws IOException {
        try (Socket reserved = new Socket()) { // keeps its port from all servers, and from the proxy's own end
            reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            proxy.lead(reserved.getLocalPort());
            try (Socket next = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                assertThat(readAll(next)).isEmpty();
            }
        }
    }

    @Test
    void the_observer_reports_errors_of_a_server_as_they_are() throws IOException {
        Thread.ofVirtual().start(() -> answer("-ERR no\r\n"));
        try (Resp resp = new Resp(proxy.port())) {
            assertThatThrownBy(() -> resp.command("PING")).hasMessage("ERR no");
        }
    }

    private void answer(String text) {
        try {
            Socket accepted = arrived.take();
            write(accepted, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
