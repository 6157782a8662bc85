package dev.raddle.examples.orders;

import dev.raddle.flow.FlowCodec;
import dev.raddle.restate.RestateFlows;
import dev.raddle.restate.RestateOptions;
import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;

/** An engine has the orders, and calls a worker. When that was killed, it calls the next one at the same address. */
public final class OrdersOnRestate {

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    // Answers of an engine that has not seen the workers and the orders before.
    private static final int CREATED = 201;
    private static final int ACCEPTED = 202;

    private OrdersOnRestate() {}

    /**
     * Runs the example, or one worker.
     *
     * @param args the URLs of the engine for calls and for its administration, and the port of the workers; for a
     *     worker its name, its last step, the port, and a directory for the stock and the bank
     * @throws Exception if the engine or a worker fails
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 4) {
            work(new OrderFlow(args[0], args[1], new ShopInFiles(Path.of(args[3]))), Integer.parseInt(args[2]));
        } else {
            shop(URI.create(args[0]), URI.create(args[1]), args[2]);
        }
    }

    private static void work(OrderFlow flow, int port) throws IOException {
        RestateOptions options = RestateOptions.defaults().withRun(OrderFlow.OPTIONS);
        RestateHttpServer.listen(
                Endpoint.bind(RestateFlows.service("order", flow.plan(), FlowCodec.text(), options)), port);
        System.out.println(flow.worker() + " is ready");
        WorkerProcess.awaitEndOfInput();
        System.exit(0); // the server has threads of its own
    }

    private static void shop(URI calls, URI admin, String port) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("raddle-orders-");
        WorkerProcess first = start("worker-1", "shipped", port, directory);
        first.awaitLine("is ready");
        String workers = "{\"uri\": \"http://localhost:%s\"}".formatted(port);
        post(request(admin.resolve("/deployments"), "application/json"), workers, CREATED);
        for (String order : OrderFlow.ORDERS) {
            URI run = calls.resolve("/order/order-" + order + "/run/send");
            HttpRequest.Builder request = request(run, "application/octet-stream")
                    .header("mdc-" + OrderFlow.REQUEST, "request " + order); // the context of the run
            post(request, order, ACCEPTED);
        }
        first.killWhenItHas("shipped");
        start("worker-2", "freed", port, directory).killWhenItHas("freed");
        try (WorkerProcess third = start("worker-3", "", port, directory)) {
            third.awaitLine("freed");
            for (String order : OrderFlow.ORDERS) {
                URI end = calls.resolve("/restate/workflow/order/order-" + order + "/attach");
                HttpResponse<String> answer = send(HttpRequest.newBuilder(end).build());
                System.out.println("order-" + order + ": " + answer.statusCode() + " " + answer.body());
            }
        }
        ShopInFiles shop = new ShopInFiles(directory);
        System.out.println(shop.summary());
        shop.delete();
    }

    private static WorkerProcess start(String name, String last, String port, Path directory) throws IOException {
        return WorkerProcess.start(OrdersOnRestate.class, name, last, port, directory.toString());
    }

    private static HttpRequest.Builder request(URI uri, String type) {
        return HttpRequest.newBuilder(uri).header("content-type", type);
    }

    private static void post(HttpRequest.Builder request, String body, int expected)
            throws IOException, InterruptedException {
        HttpResponse<String> answer =
                send(request.POST(BodyPublishers.ofString(body)).build());
        if (answer.statusCode() != expected) {
            throw new IOException(
                    "the engine is not new: " + answer.uri() + ": " + answer.statusCode() + " " + answer.body());
        }
    }

    private static HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
