package dev.raddle.examples;

import com.sun.net.httpserver.HttpServer;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A page from the answers of three services, within two seconds. One of the services is slow and optional. */
public final class PageExample {

    static final Duration DEADLINE = Duration.ofSeconds(2);
    static final Duration OFFERS_TIMEOUT = Duration.ofMillis(200);
    static final String NO_OFFERS = "no offers today";

    /**
     * A page.
     *
     * @param user the user
     * @param orders the orders of the user
     * @param offers the offers for the user
     */
    public record Page(String user, String orders, String offers) {}

    private final HttpClient client;
    private final URI shop;
    private final ScopeOptions options;

    /**
     * Creates a source of pages.
     *
     * @param client the client for the services
     * @param shop the address of the services
     * @param time the time source
     */
    public PageExample(HttpClient client, URI shop, TimeSource time) {
        this.client = client;
        this.shop = shop;
        this.options = ScopeOptions.defaults().withTimeSource(time).withDeadline(DEADLINE);
    }

    /**
     * Creates a page.
     *
     * @return the page, with a default if the slow service did not answer in time
     * @throws dev.raddle.scope.ScopeTimeoutException if the others did not answer within the deadline
     * @throws InterruptedException if the calling thread is interrupted; all requests are then cancelled
     */
    public Page page() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("page", options)) {
            Task<String> user = scope.submit("user", () -> get("/user"));
            Task<String> orders = scope.submit("orders", () -> get("/orders"));
            Task<String> offers = scope.submit("offers", () -> get("/offers"), OFFERS_TIMEOUT);
            scope.await(user, orders); // if one fails, everything else is cancelled at once
            return new Page(user.await(), orders.await(), valueOr(offers, NO_OFFERS));
        } // all its tasks have ended
    }

    private static <T> T valueOr(Task<T> task, T absent) throws InterruptedException {
        try {
            return task.await();
        } catch (TaskTimeoutException late) {
            return absent;
        }
    }

    private String get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(shop.resolve(path)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    /**
     * Prints a page of a shop whose offers are slow.
     *
     * @param args none
     * @throws IOException if the server cannot be started
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        try (Shop shop = new Shop("/offers", never::await);
                HttpClient client = newClient()) {
            long begin = System.nanoTime();
            Page page = new PageExample(client, shop.address(), TimeSource.system()).page();
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            System.out.println(page + " after " + took.toMillis() + " ms");
        }
    }

    static HttpClient newClient() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    /** The delay of a slow service. */
    interface Delay {
        void await() throws InterruptedException;
    }

    /** Three services on this machine, of which one is slow. */
    static final class Shop implements AutoCloseable {
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final HttpServer server;
        private final String slow;
        private final Delay delay;

        Shop(String slow, Delay delay) throws IOException {
            this.slow = slow;
            this.delay = delay;
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(threads);
            answer("/user", "Ada");
            answer("/orders", "3 orders");
            answer("/offers", "a kettle at half the price");
            server.start();
        }

        private void answer(String path, String text) {
            server.createContext(path, exchange -> {
                try (exchange) {
                    if (path.equals(slow)) {
                        delay.await();
                    }
                    byte[] body = text.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                }
            });
        }

        URI address() {
            InetSocketAddress address = server.getAddress();
            return URI.create("http://" + address.getHostString() + ":" + address.getPort());
        }

        @Override
        public void close() {
            server.stop(0);
            threads.shutdownNow();
            threads.close();
        }
    }
}
