package dev.raddle.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Bean;

@SpringBootTest(
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "raddle.groups.orders.max-concurrency=1",
            "raddle.groups.orders.queue-timeout=2s",
            "raddle.redis.enabled=false"
        })
@AutoConfigureRaddleTest
class AutoConfigureRaddleTestTest {

    @Autowired
    private VirtualTime time;

    @Autowired
    private GroupExecutor orders;

    @Autowired
    private Shop shop;

    @Test
    void an_order_that_waits_too_long_is_rejected_without_waiting() throws Exception {
        CompletableFuture<String> first = shop.place("acme"); // runs until the context is closed
        CompletableFuture<String> order = shop.place("acme");
        time.awaitAlarms(1);
        time.advance(Duration.ofSeconds(2));
        assertThatThrownBy(order::get).hasCauseInstanceOf(RejectedTaskException.class);
        assertThat(first).isNotDone();
        assertThat(orders.policy().timeSource()).isSameAs(time);
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    static class Shop {
        private final CountDownLatch never = new CountDownLatch(1);

        @Grouped(executor = "orders", key = "#tenant")
        public CompletableFuture<String> place(String tenant) throws InterruptedException {
            never.await();
            return CompletableFuture.completedFuture("placed");
        }
    }
}
