package dev.raddle.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.processes.ReadmeCommands;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Runs the shop and asks it through HTTP. */
class ShopTest {

    private static final int CONNECTIONS = 16;
    private static final int OF_A_TENANT = 8;
    private static final int QUEUE = 50;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Test
    void a_tenant_that_floods_the_shop_leaves_connections_to_the_others_and_is_answered_with_429() throws Exception {
        List<String> noTimeout = List.of("--raddle.groups.tenants.queue-timeout=1h"); // however slow the machine is
        try (Shop shop = Shop.start(noTimeout, HeldPrices.class)) {
            HeldPriceService prices = shop.context().getBean(HeldPriceService.class);
            List<CompletableFuture<HttpResponse<String>>> flood = new ArrayList<>();
            for (int i = 0; i < OF_A_TENANT + QUEUE + 1; i++) {
                flood.add(get(shop, "/a/quotes/held"));
            }
            prices.begun.acquire(OF_A_TENANT);
            HttpResponse<?> refused = (HttpResponse<?>) CompletableFuture.anyOf(flood.toArray(CompletableFuture[]::new))
                    .get();
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");

            assertThat(get(shop, "/b/quotes/book").get().body()).isEqualTo("book for b: 104");
            assertThat(prices.begun.availablePermits()).isZero(); // A has its connections and no more

            assertThat(get(shop, "/actuator/health").get().body()).contains("\"UP\"");
            assertThat(get(shop, "/actuator/raddle/tenants/a").get().body())
                    .contains("50 tasks wait; the next waits for a slot of its group, 0 before it; 8 of 8 slots");
            prices.hold.countDown();
            long served = 0;
            for (CompletableFuture<HttpResponse<String>> answer : flood) {
                served += answer.get().statusCode() == 200 ? 1 : 0;
            }
            assertThat(served).isEqualTo(OF_A_TENANT + QUEUE);
        }
    }

    @Test
    void without_limits_the_same_flood_takes_all_connections() throws Exception {
        try (Shop shop = Shop.start(false, HeldPrices.class)) {
            HeldPriceService prices = shop.context().getBean(HeldPriceService.class);
            List<CompletableFuture<HttpResponse<String>>> flood = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                flood.add(get(shop, "/a/quotes/held"));
            }
            prices.begun.acquire(CONNECTIONS);
            CompletableFuture<HttpResponse<String>> other = get(shop, "/b/quotes/book");
            while (!prices.connections.hasQueuedThreads()) {
                Thread.onSpinWait();
            }
            assertThat(other).isNotDone();
            prices.hold.countDown();
            assertThat(other.get().body()).isEqualTo("book for b: 104");
            CompletableFuture.allOf(flood.toArray(CompletableFuture[]::new)).get();
        }
    }

    @Test
    void the_virtual_users_of_the_load_generator_get_quotes_and_rejections_only() throws Exception {
        List<LoadGenerator.Row> rows = LoadGenerator.compare(80, 2, 5);
        assertThat(rows)
                .extracting(LoadGenerator.Row::shop)
                .containsExactly(
                        "without, B alone", "without, A floods", "with Raddle, B alone", "with Raddle, A floods");
        assertThat(rows).allSatisfy(row -> {
            assertThat(row.b().nanos()).hasSize(10);
            assertThat(row.b().rejected() + row.b().failed()).isZero();
        });
        ByteArrayOutputStream table = new ByteArrayOutputStream();
        LoadGenerator.print(new PrintStream(table, true, StandardCharsets.UTF_8), rows);
        assertThat(table.toString(StandardCharsets.UTF_8).lines()).hasSize(6);
    }

    @Test
    void the_command_of_the_README_prints_the_table(@TempDir Path output) throws Exception {
        ReadmeCommands readme = new ReadmeCommands(Path.of("README.md"), Path.of("..", ".."), output);
        assertThat(readme.commandOf(ShopApplication.class)).endsWith("ShopApplication");

        List<String> lines = readme.run(readme.commandOf(LoadGenerator.class, "20", "2", "5"));

        assertThat(lines).filteredOn(line -> line.startsWith("| with")).hasSize(4);
    }

    @Test
    void the_shop_has_the_meters_of_its_tenants() throws Exception {
        try (Shop shop = Shop.start(true)) {
            get(shop, "/a/quotes/book").get();
            assertThat(shop.context().getBean(GroupExecutor.class).activeGroupKeys())
                    .containsExactly("a");
            assertThat(get(shop, "/actuator/metrics/raddle.group.run").get().body())
                    .contains("\"tenants\"", "\"success\"");
        }
    }

    private CompletableFuture<HttpResponse<String>> get(Shop shop, String path) {
        URI uri = shop.address().resolve(path);
        return http.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    @Configuration(proxyBeanMethods = false)
    static class HeldPrices {
        @Bean
        @Primary
        HeldPriceService heldPriceService() {
            return new HeldPriceService();
        }
    }

    /** Has as many connections as the real one. A request for the item "held" keeps its connection. */
    static final class HeldPriceService implements PriceService {
        final Semaphore connections = new Semaphore(CONNECTIONS, true);
        final Semaphore begun = new Semaphore(0);
        final CountDownLatch hold = new CountDownLatch(1);

        @Override
        public int price(String item) throws InterruptedException {
            connections.acquire();
            try {
                if (item.equals("held")) {
                    begun.release();
                    hold.await();
                }
                return 100 + item.length();
            } finally {
                connections.release();
            }
        }
    }
}
