import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A small web server for three loopback addresses of this machine, of which one is slow. It runs until it is
 * interrupted.
 */
public final class Hosts {
    private static final List<String> HOSTS = List.of("127.0.0.2", "127.0.0.3", "127.0.0.4");
    private static final String SLOW = "127.0.0.4";
    private static final int PORT = 8731;

    private Hosts() {}

    public static void main(String[] args) throws IOException {
        for (String host : HOSTS) {
            HttpServer server = HttpServer.create(new InetSocketAddress(host, PORT), 0);
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.createContext("/page/", exchange -> answer(exchange, host.equals(SLOW) ? 2000 : 200));
            server.start();
            System.out.println("http://" + host + ":" + PORT + "/page/1");
        }
    }

    private static void answer(HttpExchange exchange, long millis) throws IOException {
        try (exchange) {
            Thread.sleep(millis);
            byte[] page = ("this is " + exchange.getRequestURI() + "\n").getBytes();
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
