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

/** A page that is put together from three services, within two seconds. Of these one is slow, and can be done without. */
public final class PageExample {

    static final Duration DEADLINE = Duration.ofSeconds(2);
    static final Duration OFFERS_TIMEOUT = Duration.ofMillis(200);
    static final String NO_OFFERS = "no offers today";

    /**
     * A page.
     *
     * @param user for whom it is
     * @param orders what was ordered
     * @param offers what may be ordered
     */
    public record Page(String user, String orders, String offers) {}

    private final HttpClient client;
    private final URI shop;
    private final ScopeOptions options;

    /**
     * Creates what puts pages together.
     *
     * @param client asks the services
     * @param shop where these are
     * @param time what knows the time
     */
    public PageExample(HttpClient client, URI shop, TimeSource time) {
        this.client = client;
        this.shop = shop;
        this.options = ScopeOptions.defaults().withTimeSource(time).withDeadline(DEADLINE);
    }

    /**
     * Puts a page together.
     *
     * @return the page, with a default where the slow service did not answer in time
     * @throws dev.raddle.scope.ScopeTimeoutException if the others did not answer within the deadline
     * @throws InterruptedException if the calling thread is interrupted; the services are not asked any more
     */
    public Page page() throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("page", options)) {
            Task<String> user = scope.submit("user", () -> get("/user"));
            Task<String> orders = scope.submit("orders", () -> get("/orders"));
            Task<String> offers = scope.submit("offers", () -> get("/offers"), OFFERS_TIMEOUT);
            scope.await(user, orders); // if one fails, everything else is cancelled at once
            return new Page(user.await(), orders.await(), valueOr(offers, NO_OFFERS));
        } // nothing of it runs any more
    }

    private static <T> T valueOr(Task<T> task, T otherwise) throws InterruptedException {
        try {
            return task.await();
        } catch (TaskTimeoutException late) {
            return otherwise;
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
     * @throws IOException if the shop cannot be opened
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

    /** What a slow service waits for before it answers. */
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
