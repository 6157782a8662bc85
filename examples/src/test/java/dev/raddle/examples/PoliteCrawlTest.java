package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the crawl of several hosts: each has its limit, and the slow one does not delay the others. */
@Timeout(300)
class PoliteCrawlTest {
    private static final Path EXAMPLE = Raddle.ROOT.resolve("examples/polite-crawl");
    private static final String SLOW = "127.0.0.4";
    private static final int FAST_PAGES = 24;

    @TempDir
    private Path directory;

    private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> most = new ConcurrentHashMap<>();
    private final CountDownLatch fastPages = new CountDownLatch(FAST_PAGES);
    private final Map<String, CyclicBarrier> pairs =
            Map.of("127.0.0.2", new CyclicBarrier(2), "127.0.0.3", new CyclicBarrier(2));

    @Test
    void every_host_has_its_limit_and_the_slow_one_does_not_delay_the_others() throws Exception {
        assertThat(isInstalled("curl")).as("the example needs curl: install it").isTrue();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<HttpServer> servers = servers(threads);
            assumeThat(servers)
                    .as("a server on each of several loopback addresses")
                    .isNotEmpty();
            try {
                crawl(servers.getFirst().getAddress().getPort());
            } finally {
                servers.forEach(server -> server.stop(0));
            }
        }
    }

    private void crawl(int port) throws Exception {
        Files.copy(EXAMPLE.resolve("crawl.yaml"), directory.resolve("crawl.yaml"));
        String urls = Files.readString(EXAMPLE.resolve("urls.txt")).replace(":8731/", ":" + port + "/");
        Files.writeString(directory.resolve("urls.txt"), urls);

        Raddle.Ended ended =
                new Raddle(directory).environment("no_proxy", "*").run("run", "--results", "run", "crawl.yaml");

        assertThat(ended.exitCode()).as(ended.out() + ended.err()).isZero();
        assertThat(most.get("127.0.0.2").get()).isEqualTo(2);
        assertThat(most.get("127.0.0.3").get()).isEqualTo(2);
        assertThat(most.get(SLOW).get()).isEqualTo(1);
        Map<?, ?> report = Raddle.report(directory.resolve("run"));
        assertThat(((Map<?, ?>) report.get("totals")).get("succeeded")).isEqualTo(28);
        assertThat(((Map<?, ?>) report.get("groups")).keySet()).isEqualTo(Set.of("127.0.0.2", "127.0.0.3", SLOW));
        Map<?, ?> first = Raddle.tasks(report).get("page-1");
        assertThat(first.get("group")).isEqualTo(SLOW);
        assertThat(Files.readString(Path.of(String.valueOf(first.get("output")))))
                .startsWith("page of " + SLOW);
    }

    private static boolean isInstalled(String program) throws InterruptedException {
        try {
            return new ProcessBuilder(program, "--version")
                            .redirectErrorStream(true)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Starts a server for each host, all on the same port; none if the machine has only one loopback address. */
    private List<HttpServer> servers(ExecutorService threads) throws IOException {
        List<HttpServer> servers = new ArrayList<>();
        try {
            int port = 0;
            for (String host : List.of("127.0.0.2", "127.0.0.3", SLOW)) {
                HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 0);
                servers.add(server);
                port = server.getAddress().getPort();
                server.setExecutor(threads);
                server.createContext("/page/", exchange -> answer(exchange, host));
                server.start();
            }
            return servers;
        } catch (BindException e) {
            servers.forEach(server -> server.stop(0));
            return List.of();
        }
    }

    /**
     * Answers a request. The slow host answers once all pages of the others are served, so the test would hang if it
     * delayed them. The others answer two requests at once or none.
     */
    private void answer(HttpExchange exchange, String host) throws IOException {
        int now = running.computeIfAbsent(host, name -> new AtomicInteger()).incrementAndGet();
        most.computeIfAbsent(host, name -> new AtomicInteger()).accumulateAndGet(now, Math::max);
        byte[] page = ("page of " + host + "\n").getBytes(StandardCharsets.UTF_8);
        boolean inTime = true;
        try {
            if (host.equals(SLOW)) {
                inTime = fastPages.await(20, TimeUnit.SECONDS);
            } else {
                pairs.get(host).await(120, TimeUnit.SECONDS);
            }
        } catch (BrokenBarrierException | TimeoutException e) {
            inTime = false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        running.get(host).decrementAndGet(); // before the answer, which may cause the next request
        exchange.sendResponseHeaders(inTime ? 200 : 503, page.length);
        exchange.getResponseBody().write(page);
        exchange.close();
        if (!host.equals(SLOW)) {
            fastPages.countDown();
        }
    }
}
