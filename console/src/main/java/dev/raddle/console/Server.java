package dev.raddle.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpPrincipal;
import com.sun.net.httpserver.HttpServer;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers requests, each in a thread. It is a platform thread: while virtual threads of the program keep all carriers
 * busy, a virtual thread that another kind of thread has woken may never run, and this is when a user wants to look.
 */
final class Server {

    private static final Duration CLOSE_GRACE = Duration.ofSeconds(1);
    private static final int LARGEST_BODY = 64 * 1024;
    private static final int MOST_REQUESTS = 200; // besides the streams; the oldest ones are ended for new ones
    private static final int MOST_ENDING = 1_000;
    private static final byte[] END = "event: end\ndata: {}\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] COMMENT = ":\n\n".getBytes(StandardCharsets.UTF_8);
    private static final String JSON = "application/json";

    /** The limit of the request that the thread answers; unbound in a thread of another server, which has its own. */
    private static final ScopedValue<Alarm> LIMIT = ScopedValue.newInstance();

    private static final Alarm NO_LIMIT = () -> true;

    private final HttpServer http;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("raddle-console-", 0).factory());
    private final Guard guard;
    private final Sampler sampler;
    private final Function<Map<String, String>, String> stacks; // of running tasks, by the query
    private final Controls controls;
    private final Duration patience; // with a client that does not read or write
    private final Duration heartbeat; // often enough that a client that has gone soon makes room for another one
    private final Page page = new Page();
    private final int allPlaces;
    private final Semaphore places;

    /** The threads of the requests that are neither answered nor streams, the oldest first. Guarded by itself. */
    private final Set<Thread> unfinished = new LinkedHashSet<>();

    Server(
            HttpServer http,
            Guard guard,
            Sampler sampler,
            Function<Map<String, String>, String> stacks,
            Controls controls,
            int clients,
            Duration patience) {
        this.allPlaces = clients + MOST_REQUESTS + MOST_ENDING;
        this.places = new Semaphore(allPlaces);
        this.http = http;
        this.guard = guard;
        this.sampler = sampler;
        this.stacks = stacks;
        this.controls = controls;
        this.patience = patience;
        this.heartbeat = patience.dividedBy(10);
    }

    void start() {
        http.createContext("/", this::handle);
        http.setExecutor(this::execute);
        // The server's threads are like the one that starts it: they must not keep the JVM alive.
        CompletableFuture.runAsync(http::start, threads).join();
    }

    /** Lets clients take what they have been passed, for some time, and ends all connections. */
    void close() throws InterruptedException {
        if (places.tryAcquire(allPlaces, CLOSE_GRACE.toNanos(), TimeUnit.NANOSECONDS)) {
            places.release(allPlaces);
        }
        stop();
        threads.awaitTermination(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    void stop() {
        http.stop(0);
        threads.shutdownNow();
    }

    /**
     * Receives one request and answers it, both within the patience. If there are too many unfinished ones, the oldest
     * is ended: clients that open connections and send nothing do not keep others out.
     */
    private void execute(Runnable exchange) {
        if (!places.tryAcquire()) {
            throw new RejectedExecutionException("the console has too many requests");
        }
        threads.execute(() -> {
            Alarm limit = limit();
            begin(Thread.currentThread());
            try {
                ScopedValue.where(LIMIT, limit).run(exchange);
            } finally {
                limit.cancel();
                finish();
                places.release();
            }
        });
    }

    private void begin(Thread thread) {
        synchronized (unfinished) {
            unfinished.add(thread);
            if (unfinished.size() > MOST_REQUESTS) {
                Thread oldest = unfinished.iterator().next();
                unfinished.remove(oldest);
                oldest.interrupt(); // which closes its connection
            }
        }
    }

    private void finish() {
        synchronized (unfinished) {
            unfinished.remove(Thread.currentThread());
        }
    }

    /** Answers a request of this server or of another one, in the calling thread. */
    void handle(HttpExchange exchange) {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Security-Policy", Page.POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("X-Frame-Options", "DENY");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Opener-Policy", "same-origin");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set("Cache-Control", "no-store");
        try (exchange) {
            answer(exchange);
        } catch (IOException | InterruptedException gone) {
            // the client has gone, or was dropped
        }
    }

    private void answer(HttpExchange exchange) throws IOException, InterruptedException {
        try {
            Client client = route(exchange);
            if (client != null) {
                try {
                    finish();
                    LIMIT.orElse(NO_LIMIT).cancel(); // a stream has no end, but each of its writes has a limit
                    stream(exchange, client);
                } finally {
                    sampler.remove(client);
                }
            }
        } catch (Refusal refusal) {
            send(exchange, refusal.status, JSON, Json.bytes(Map.of("problem", refusal.sentence())));
        }
    }

    /** Ends the connection of the calling thread after some time, unless it is cancelled: interrupts close channels. */
    private Alarm limit() {
        return TimeSource.system().after(patience, Thread.currentThread()::interrupt);
    }

    /** Answers a request, or returns the client to whom a stream is to be sent. */
    private @Nullable Client route(HttpExchange exchange) throws IOException, InterruptedException {
        Headers request = exchange.getRequestHeaders();
        guard.checkHost(request);
        String path = String.valueOf(exchange.getRequestURI().getPath());
        if (path.startsWith("/api/")) {
            guard.checkSite(request);
        }
        switch (path) {
            case "/" -> sendPage(exchange, "index.html");
            case "/api/login" -> login(exchange);
            case "/api/stack" -> {
                requireGet(exchange);
                guard.requireToken(request, addressOf(exchange));
                String stack = stacks.apply(View.query(exchange.getRequestURI().getRawQuery()));
                send(exchange, 200, "text/plain; charset=utf-8", stack.getBytes(StandardCharsets.UTF_8));
            }
            case "/api/stream" -> {
                requireGet(exchange);
                guard.requireToken(request, addressOf(exchange));
                return sampler.open(View.of(View.query(exchange.getRequestURI().getRawQuery())));
            }
            case "/api/control" -> control(exchange);
            case String other when other.startsWith("/page/") -> sendPage(exchange, other.substring(6));
            default -> throw new Refusal(404, "there is no such page");
        }
        return null;
    }

    private static String addressOf(HttpExchange exchange) {
        return exchange.getRemoteAddress().getAddress().getHostAddress();
    }

    private static void requireGet(HttpExchange exchange) {
        if (!exchange.getRequestMethod().equals("GET")) {
            exchange.getResponseHeaders().set("Allow", "GET");
            throw new Refusal(405, "the method must be GET");
        }
    }

    private void sendPage(HttpExchange exchange, String name) throws IOException {
        requireGet(exchange);
        Page.File file = page.get(name);
        Headers headers = exchange.getResponseHeaders();
        headers.set("Cache-Control", "no-cache");
        headers.set("ETag", file.tag);
        if (file.tag.equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
            exchange.sendResponseHeaders(304, -1);
        } else {
            send(exchange, 200, file.type, file.bytes);
        }
    }

    private void login(HttpExchange exchange) throws IOException, InterruptedException {
        byte[] body = body(exchange);
        JsonNode token = Json.readObject(body).path("token");
        String cookie = guard.login(token.isString() ? token.asString() : "", addressOf(exchange));
        exchange.getResponseHeaders().set("Set-Cookie", cookie);
        send(exchange, 200, JSON, Json.bytes(Map.of("done", "the token is right")));
    }

    private void control(HttpExchange exchange) throws IOException, InterruptedException {
        guard.requireToken(exchange.getRequestHeaders(), addressOf(exchange));
        guard.requireOwnOrigin(exchange.getRequestHeaders());
        ObjectNode command = Json.readObject(body(exchange));
        HttpPrincipal user = exchange.getPrincipal();
        String who = user == null ? addressOf(exchange) : user.getUsername();
        send(exchange, 200, JSON, Json.bytes(Map.of("done", controls.apply(command, who))));
    }

    /** Reads a body of JSON: no page of another site can send one without asking before. */
    private static byte[] body(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            exchange.getResponseHeaders().set("Allow", "POST");
            throw new Refusal(405, "the method must be POST");
        }
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type == null || !type.replaceFirst(";.*", "").strip().equalsIgnoreCase(JSON)) {
            throw new Refusal(415, "the body must be " + JSON);
        }
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        if (body.length > LARGEST_BODY) {
            throw new Refusal(413, "the body must have at most " + LARGEST_BODY + " bytes");
        }
        return body;
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        boolean hasBody = body.length > 0 && !exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, hasBody ? body.length : -1);
        if (hasBody) {
            exchange.getResponseBody().write(body);
            exchange.getResponseBody().flush(); // the end of the exchange may wait for the rest of the request
        }
    }

    private void stream(HttpExchange exchange, Client client) throws IOException, InterruptedException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        Snapshot sent = null;
        long wroteNanos = System.nanoTime();
        while (true) {
            Snapshot next = client.await(heartbeat);
            if (next == Client.END) {
                write(out, END);
                return;
            }
            byte[] event = next == null ? COMMENT : next.eventSince(sent);
            if (event.length == 0 && System.nanoTime() - wroteNanos >= heartbeat.toNanos()) {
                event = COMMENT; // only a write shows whether the client is there
            }
            if (event.length > 0) {
                write(out, event);
                wroteNanos = System.nanoTime();
            }
            sent = next == null ? sent : next;
        }
    }

    private void write(OutputStream out, byte[] event) throws IOException {
        Alarm limit = LIMIT.isBound() ? limit() : NO_LIMIT;
        try {
            out.write(event);
            out.flush();
        } finally {
            limit.cancel();
        }
    }
}
