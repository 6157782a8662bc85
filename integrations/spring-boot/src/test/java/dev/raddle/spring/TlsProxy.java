package dev.raddle.spring;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/** Serves TLS on a loopback port, and forwards what it decrypts to another port. */
final class TlsProxy implements AutoCloseable {

    static final String PASSWORD = "changeit";

    private final AtomicInteger connections = new AtomicInteger();
    private final SSLServerSocket listener;
    private final int target;

    TlsProxy(Path keyStore, int target) throws IOException, GeneralSecurityException {
        this.target = target;
        listener = (SSLServerSocket)
                contextOf(keyStore).getServerSocketFactory().createServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    /** Creates a store with a key and its certificate for the loopback address, which clients may trust. */
    static Path createKeyStore(Path directory) throws IOException, InterruptedException {
        Path file = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=test",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString())
                .inheritIO()
                .start();
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool has ended with " + keytool.exitValue());
        }
        return file;
    }

    private static SSLContext contextOf(Path keyStore) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream file = Files.newInputStream(keyStore)) {
            keys.load(file, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return context;
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Returns the number of connections over which something was decrypted. */
    int connections() {
        return connections.get();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client;
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
            Thread answers = Thread.ofVirtual().start(() -> forward(server, client));
            int first = client.getInputStream().read();
            if (first >= 0) {
                connections.incrementAndGet();
                server.getOutputStream().write(first);
                forward(client, server);
            }
            server.close();
            answers.join();
        } catch (IOException refused) {
            // a client without TLS, or one that does not trust the certificate
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void forward(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException closed) {
            // by one of the two sides
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
