package dev.raddle.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Ports of the loopback interface that are free at the moment. Another process may take one before it is used. */
public final class LoopbackPorts {
    private LoopbackPorts() {}

    public static int free() {
        return free(1)[0];
    }

    /** Returns ports that differ. */
    public static int[] free(int count) {
        int[] ports = new int[count];
        try {
            find(ports, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return ports;
    }

    /** Holds each port until the following ones are found, because the system may offer a released port again. */
    private static void find(int[] ports, int index) throws IOException {
        if (index < ports.length) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                ports[index] = socket.getLocalPort();
                find(ports, index + 1);
            }
        }
    }
}
