package dev.raddle.examples;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;

import com.sun.net.httpserver.HttpServer;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.flow.UnneededPolicy;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskStatus;
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
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The last page of a purchase, as a flow: a user, an optional promotion, a price from the faster of two sources, and
 * an audit that must have ended but need not have succeeded. All within two seconds.
 */
public final class CheckoutExample {

    static final Duration DEADLINE = Duration.ofSeconds(2);
    static final Duration PROMO_TIMEOUT = Duration.ofMillis(80);

    /**
     * An order.
     *
     * @param user the user who buys
     * @param item the item
     */
    public record Order(String user, String item) {}

    /**
     * The page.
     *
     * @param user the user
     * @param cents the price
     * @param isAudited whether the audit has succeeded
     */
    public record Page(String user, int cents, boolean isAudited) {}

    private final HttpClient client;
    private final URI shop;
    private final TimeSource time;
    private final FlowPlan<Order, Page> plan;

    /**
     * Creates the flow.
     *
     * @param client the client for the services
     * @param shop the address of the services
     * @param time the time source
     */
    public CheckoutExample(HttpClient client, URI shop, TimeSource time) {
        this.client = client;
        this.shop = shop;
        this.time = time;
        this.plan = plan();
    }

    private FlowPlan<Order, Page> plan() {
        FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
        Node<String> user = f.node("user", c -> get("/users/" + c.param().user()));
        Node<Integer> promo = f.node("promo", user, u -> number("/promos/" + u))
                .timeout(PROMO_TIMEOUT)
                .defaultValue(0);
        Node<Integer> local =
                f.node("local price", c -> number("/local/" + c.param().item()));
        Node<Integer> rate = f.node("rate", () -> number("/rate"));
        Node<Integer> remote = f.node(
                "remote price",
                rate,
                (c, r) -> r * number("/remote/" + c.param().item()));
        // The price waits until the promotion has ended in any way, and then reads its result or its default.
        Node<Integer> price = f.node("price", anyOf(local, remote), after(promo), (c, cents, ended) -> {
            return cents - cents * c.read(promo) / 100;
        });
        Node<Void> audit = f.action("audit", user, u -> get("/audit/" + u));
        Node<Page> page = f.node("page", user, price, after(audit), CheckoutExample::page);
        return f.returning(page);
    }

    private static Page page(String user, int cents, Outcome<Void> audit) {
        return new Page(user, cents, audit.status() == TaskStatus.SUCCESS);
    }

    /**
     * Creates a page.
     *
     * @param order the order
     * @return the result of the run, with the page as its value if there is one
     * @throws InterruptedException if the calling thread is interrupted; all requests are then cancelled
     */
    public FlowResult<Page> checkout(Order order) throws InterruptedException {
        return checkout(order, new TaskListener() {});
    }

    FlowResult<Page> checkout(Order order, TaskListener listener) throws InterruptedException {
        return plan.run(
                order,
                RunOptions.timeout(DEADLINE)
                        .withTimeSource(time)
                        .addListener(listener)
                        .obsolete(UnneededPolicy.INTERRUPT)); // the slower source is interrupted
    }

    private int number(String path) throws IOException, InterruptedException {
        return Integer.parseInt(get(path));
    }

    private String get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(shop.resolve(path)).build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(path + " answered with status " + response.statusCode());
        }
        return response.body();
    }

    /**
     * Prints the page of a shop whose exchange rate and promotions do not answer.
     *
     * @param args none
     * @throws IOException if the server cannot be started
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Callable<String> never = () -> {
            new CountDownLatch(1).await();
            return "never";
        };
        try (Shop shop = new Shop(Map.of("/rate", never, "/promos/Ada", never));
                HttpClient client = PageExample.newClient()) {
            CheckoutExample example = new CheckoutExample(client, shop.address(), TimeSource.system());
            FlowResult<Page> result = example.checkout(new Order("ada", "kettle"));
            System.out.println(result.value() + ", " + result);
            System.out.println("promo is " + result.explain("promo"));
            System.out.println("remote price is " + result.explain("remote price"));
        }
    }

    /** The services, on this machine. Tests replace the answers of some. */
    static final class Shop implements AutoCloseable {
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final HttpServer server;
        private final Map<String, Callable<String>> special;

        Shop(Map<String, Callable<String>> special) throws IOException {
            this.special = special;
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(threads);
            answer("/users/ada", "Ada");
            answer("/promos/Ada", "10");
            answer("/local/kettle", "2000");
            answer("/rate", "2");
            answer("/remote/kettle", "1000");
            answer("/audit/Ada", "noted");
            server.start();
        }

        private void answer(String path, String usually) {
            Callable<String> answer = special.getOrDefault(path, () -> usually);
            server.createContext(path, exchange -> {
                try (exchange) {
                    byte[] body = answer.call().getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                } catch (IOException broken) {
                    throw broken;
                } catch (Exception failure) {
                    throw new IOException("no answer to " + path, failure);
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
