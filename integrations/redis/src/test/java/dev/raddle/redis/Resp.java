package dev.raddle.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A blocking client of the Redis protocol in its smallest form, so that tests observe a server without the
 * tested code.
 */
final class Resp implements AutoCloseable {
    private static final int ANSWER_WITHIN_MILLIS = 20_000;

    private final Socket socket;
    private final InputStream in;

    Resp(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(ANSWER_WITHIN_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** Sends one command on a connection of its own. */
    static @Nullable Object once(int port, String... words) {
        try (Resp resp = new Resp(port)) {
            return resp.command(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Sends one command and waits for its answer.
     *
     * @return a string, a long, a list of these, or null
     * @throws RespException if the server answers with an error
     */
    synchronized @Nullable Object command(String... words) throws IOException {
        socket.getOutputStream().write(encode(words));
        return read();
    }

    static byte[] encode(String... words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ascii("*" + words.length + "\r\n"));
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            out.writeBytes(ascii("$" + bytes.length + "\r\n"));
            out.writeBytes(bytes);
            out.writeBytes(ascii("\r\n"));
        }
        return out.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private @Nullable Object read() throws IOException {
        String line = readLine();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case '-' -> throw new RespException(rest);
            case ':' -> Long.valueOf(rest);
            case '$' -> readBytes(Integer.parseInt(rest));
            case '*' -> readList(Integer.parseInt(rest));
            default -> throw new IOException("not an answer: " + line);
        };
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c; (c = in.read()) != '\r'; ) {
            if (c < 0) {
                throw new EOFException("connection closed by the server");
            }
            line.append((char) c);
        }
        in.skipNBytes(1);
        return line.toString();
    }

    private @Nullable String readBytes(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.readNBytes(bytes, 0, length);
        in.skipNBytes(2);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private @Nullable List<@Nullable Object> readList(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        List<@Nullable Object> list = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            list.add(read());
        }
        return list;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** An error that the server answered. */
    static final class RespException extends IOException {
        private static final long serialVersionUID = 1;

        RespException(String message) {
            super(message);
        }
    }
}
