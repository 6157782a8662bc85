package dev.raddle.examples;

import dev.raddle.scope.Channel;
import dev.raddle.scope.ThreadScope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * A server to which clients send numbers, one per line, such as {@code temperature 21}. Each connection is a task, and
 * all tasks send to one channel, from which one thread adds the numbers up: no lock and no shared mutable state.
 */
public final class FanInServerExample {

    private static final byte[] OK = "ok\n".getBytes(StandardCharsets.UTF_8);

    private record Reading(String name, long value) {
        static Reading of(String line) {
            int space = line.indexOf(' ');
            return new Reading(line.substring(0, space), Long.parseLong(line.substring(space + 1)));
        }
    }

    private FanInServerExample() {}

    /**
     * Serves until the server socket is closed. A line is answered once it is certain to be counted. When this
     * returns, every connection is closed.
     *
     * @param server the server socket, which the caller closes
     * @return the sum of the numbers for each name
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static Map<String, Long> serve(ServerSocket server) throws InterruptedException {
        Map<String, Long> sums = new TreeMap<>();
        try (ThreadScope scope = ThreadScope.open("server")) {
            Channel<Reading> readings = scope.openChannel(100);
            readings.closeAfter(scope.submit("accept", () -> accept(server, readings)));
            for (Reading reading : readings) { // until "accept" has ended; throws if it has failed
                sums.merge(reading.name(), reading.value(), Long::sum);
            }
        }
        return sums;
    }

    /** Accepts connections. Returns when every connection has ended, because the inner scope waits for its tasks. */
    private static Void accept(ServerSocket server, Channel<Reading> readings) throws IOException {
        try (ThreadScope clients = ThreadScope.open("clients")) {
            while (true) {
                Socket client = server.accept();
                clients.submit("client on port " + client.getPort(), () -> read(client, readings));
            }
        } catch (SocketException closed) {
            return null; // the normal end: the server socket was closed
        }
    }

    /** Reads the lines of a client. Cancellation interrupts the virtual thread, which closes the socket. */
    private static Void read(Socket client, Channel<Reading> readings) throws IOException, InterruptedException {
        try (client) {
            BufferedReader lines = reader(client);
            OutputStream answers = client.getOutputStream();
            for (String line; (line = lines.readLine()) != null; ) {
                readings.send(Reading.of(line));
                answers.write(OK);
            }
        }
        return null;
    }

    static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Serves three clients and prints the sums.
     *
     * @param args none
     * @throws IOException if the server socket cannot be opened
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ThreadScope scope = ThreadScope.open("clients of the example")) {
            scope.submit("all clients", () -> sendAndClose(server));
            System.out.println(serve(server));
        }
    }

    private static Void sendAndClose(ServerSocket server) throws IOException {
        try (server) {
            for (int client = 1; client <= 3; client++) {
                send(server, "client-" + client + " 20", "all 1");
            }
        }
        return null;
    }

    private static void send(ServerSocket server, String... lines) throws IOException {
        try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
            BufferedReader answers = reader(socket);
            for (String line : lines) {
                socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
                System.out.println(line + ": " + answers.readLine());
            }
        }
    }
}
