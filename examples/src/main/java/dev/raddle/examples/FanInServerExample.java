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
 * A server to which clients send numbers, one a line, such as {@code temperature 21}. Each connection is a task, and all of
 * them send to one channel, from which one thread adds up: no lock, and nothing that two threads write.
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
     * Serves until the door is closed. Each line is answered when it is counted for certain. When this returns, every
     * connection is closed.
     *
     * @param door where clients come in; stays the caller's to close
     * @return the sum of what was sent under each name
     * @throws InterruptedException if the calling thread is interrupted
     */
    public static Map<String, Long> serve(ServerSocket door) throws InterruptedException {
        Map<String, Long> sums = new TreeMap<>();
        try (ThreadScope scope = ThreadScope.open("server")) {
            Channel<Reading> readings = scope.openChannel(100);
            readings.closeAfter(scope.submit("accept", () -> accept(door, readings)));
            for (Reading reading : readings) { // until "accept" has ended; throws if it has failed
                sums.merge(reading.name(), reading.value(), Long::sum);
            }
        }
        return sums;
    }

    /** Returns when every connection has ended, because that is the end of the inner scope. */
    private static Void accept(ServerSocket door, Channel<Reading> readings) throws IOException {
        try (ThreadScope clients = ThreadScope.open("clients")) {
            while (true) {
                Socket client = door.accept();
                clients.submit("client on port " + client.getPort(), () -> read(client, readings));
            }
        } catch (SocketException closed) {
            return null; // the door was closed, which is how this ends
        }
    }

    /** Reads what a client sends. Being cancelled, which is an interrupt, closes the socket of a virtual thread. */
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
     * @throws IOException if the door cannot be opened
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        try (ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ThreadScope scope = ThreadScope.open("clients of the example")) {
            scope.submit("all clients", () -> sendAndClose(door));
            System.out.println(serve(door));
        }
    }

    private static Void sendAndClose(ServerSocket door) throws IOException {
        try (door) {
            for (int client = 1; client <= 3; client++) {
                send(door, "client-" + client + " 20", "all 1");
            }
        }
        return null;
    }

    private static void send(ServerSocket door, String... lines) throws IOException {
        try (Socket socket = new Socket(door.getInetAddress(), door.getLocalPort())) {
            BufferedReader answers = reader(socket);
            for (String line : lines) {
                socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
                System.out.println(line + ": " + answers.readLine());
            }
        }
    }
}
