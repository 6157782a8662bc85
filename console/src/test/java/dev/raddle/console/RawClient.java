package dev.raddle.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A client that sends the given bytes, without the headers that a library would add. */
final class RawClient implements AutoCloseable {

    /** An answer. */
    record Answer(int status, Map<String, String> headers, String body) {
        String header(String name) {
            return headers.get(name.toLowerCase(Locale.ROOT));
        }

        String problem() {
            return Json.read(body).path("problem").asString("");
        }
    }

    /** An event of a stream. */
    record Event(String name, String data) {}

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private ByteArrayOutputStream pending = new ByteArrayOutputStream();

    RawClient(URI uri) throws IOException {
        socket = new Socket("localhost", uri.getPort());
        socket.setSoTimeout(20_000);
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    /** Sends a request on a connection of its own, and reads the whole answer. */
    static Answer get(URI uri, String path, String... headers) throws IOException {
        return request(uri, "GET", path, "", headers);
    }

    static Answer post(URI uri, String path, String body, String... headers) throws IOException {
        return request(uri, "POST", path, body, headers);
    }

    static Answer request(URI uri, String method, String path, String body, String... headers) throws IOException {
        try (RawClient client = new RawClient(uri)) {
            client.send(uri, method, path, body, headers);
            return client.answer();
        }
    }

    /** Headers are texts such as "Origin: null"; Host is that of the address unless it is among them. */
    void send(URI uri, String method, String path, String body, String... headers) throws IOException {
        StringBuilder text = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
        boolean hasHost = false;
        boolean hasLength = false;
        for (String header : headers) {
            hasHost |= header.startsWith("Host:");
            hasLength |= header.startsWith("Content-Length:");
            text.append(header).append("\r\n");
        }
        if (!hasHost) {
            text.append("Host: localhost:").append(uri.getPort()).append("\r\n");
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (!hasLength && (bytes.length > 0 || method.equals("POST"))) {
            text.append("Content-Length: ").append(bytes.length).append("\r\n");
        }
        out.write(text.append("\r\n").toString().getBytes(StandardCharsets.UTF_8));
        out.write(bytes);
        out.flush();
    }

    void write(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    Answer answer() throws IOException {
        String[] lines = head().split("\r\n");
        Map<String, String> headers = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            headers.put(
                    lines[i].substring(0, colon).toLowerCase(Locale.ROOT),
                    lines[i].substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        return new Answer(Integer.parseInt(lines[0].split(" ")[1]), headers, body);
    }

    private String head() throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n\r\n") < 0) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("the connection ended after \"" + text + "\"");
            }
            text.append((char) next);
        }
        return text.toString();
    }

    /** Opens a stream, whose events {@link #event} returns. */
    static RawClient stream(URI uri, String query, String... headers) throws IOException {
        RawClient client = new RawClient(uri);
        client.send(uri, "GET", "/api/stream?" + query, "", headers);
        String head = client.head();
        if (!head.startsWith("HTTP/1.1 200")) {
            client.close();
            throw new IOException(head);
        }
        return client;
    }

    /** Reads the next event; comments are skipped. */
    Event event() throws IOException {
        while (true) {
            String text = pending.toString(StandardCharsets.UTF_8);
            int end = text.indexOf("\n\n");
            if (end < 0) {
                readChunk();
                continue;
            }
            pending = new ByteArrayOutputStream();
            pending.writeBytes(text.substring(end + 2).getBytes(StandardCharsets.UTF_8));
            if (text.startsWith("event: ")) {
                String[] lines = text.substring(0, end).split("\n");
                return new Event(lines[0].substring(7), lines[1].substring(6));
            }
        }
    }

    private void readChunk() throws IOException {
        if (Thread.interrupted()) { // by the time limit of a test, while only heartbeats come
            throw new InterruptedIOException("interrupted while it waits for an event; so far: " + pending);
        }
        StringBuilder length = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("the stream has ended");
            }
            length.append((char) c);
        }
        byte[] chunk = in.readNBytes(Integer.parseInt(length.toString().strip(), 16));
        in.readNBytes(2);
        if (chunk.length == 0) {
            throw new IOException("the stream has ended");
        }
        pending.writeBytes(chunk);
    }

    /** Reads events into a state until it has a property. */
    static ObjectNode await(RawClient client, ObjectNode state, Predicate<ObjectNode> property) throws IOException {
        ObjectNode now = state;
        while (!property.test(now)) {
            Event event = client.event();
            ObjectNode data = (ObjectNode) Json.read(event.data());
            now = event.name().equals("state") ? data : (ObjectNode) applied(now, data);
        }
        return now;
    }

    /** Returns what RFC 7396 says that a patch makes of a target: its pseudo code, section 2. */
    static JsonNode applied(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ObjectNode members)) {
            return patch;
        }
        ObjectNode result = target instanceof ObjectNode object ? object.deepCopy() : Json.object(Map.of());
        members.properties().forEach(member -> {
            if (member.getValue().isNull()) {
                result.remove(member.getKey());
            } else {
                JsonNode before = result.get(member.getKey());
                result.set(
                        member.getKey(), applied(before == null ? Json.object(Map.of()) : before, member.getValue()));
            }
        });
        return result;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
