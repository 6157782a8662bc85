package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.examples.CheckoutExample.Order;
import dev.raddle.examples.CheckoutExample.Page;
import dev.raddle.examples.CheckoutExample.Shop;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.ValueSource;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Outcome;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.VirtualTime;
import java.net.http.HttpClient;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CheckoutExampleTest {

    private static final Order ORDER = new Order("ada", "kettle");

    private final VirtualTime time = new VirtualTime();
    private final HttpClient client = PageExample.newClient();
    private final CountDownLatch asked = new CountDownLatch(1);

    private final Callable<String> silent = () -> {
        asked.countDown();
        new CountDownLatch(1).await();
        return "never";
    };
    private final Callable<String> broken = () -> {
        throw new IllegalStateException("broken");
    };

    @AfterEach
    void close() {
        client.close();
    }

    private FlowResult<Page> checkout(Map<String, Callable<String>> special) throws Exception {
        try (Shop shop = new Shop(special)) {
            return new CheckoutExample(client, shop.address(), time).checkout(ORDER);
        }
    }

    @Test
    void a_page_has_the_first_price_less_the_promotion() throws Exception {
        FlowResult<Page> result = checkout(Map.of());

        assertThat(result.value()).isEqualTo(new Page("Ada", 1800, true));
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_late_promotion_is_cancelled_and_replaced_by_its_default() throws Exception {
        try (Shop shop = new Shop(Map.of("/promos/Ada", silent));
                ThreadScope scope = ThreadScope.open()) {
            CheckoutExample example = new CheckoutExample(client, shop.address(), time);
            Task<FlowResult<Page>> checkout = scope.submit("checkout", () -> example.checkout(ORDER));
            asked.await();

            time.advance(CheckoutExample.PROMO_TIMEOUT);

            FlowResult<Page> result = checkout.await();
            assertThat(result.value()).isEqualTo(new Page("Ada", 2000, true));
            assertThat(result.status()).isEqualTo(FlowStatus.DEGRADED);
            assertThat(result.node("promo").state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(result.node("promo").via()).isEqualTo(ValueSource.DEFAULT);
        }
    }

    @Test
    void a_price_that_has_become_unneeded_is_not_requested() throws Exception {
        FlowResult<Page> result = checkout(Map.of("/rate", silent));

        assertThat(result.value().cents()).isEqualTo(1800);
        assertThat(result.node("rate").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.node("remote price").state()).isEqualTo(NodeState.SKIPPED);
        assertThat(result.explain("remote price"))
                .startsWith("SKIPPED: \"price\" was decided by \"local price\" at +")
                .endsWith("and \"remote price\" has no other undecided consumer");
    }

    @Test
    void the_failure_of_one_price_source_does_not_fail_the_page() throws Exception {
        CountDownLatch localHasFailed = new CountDownLatch(1);
        Callable<String> later = () -> {
            localHasFailed.await();
            return "2";
        };
        TaskListener listener = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity node, Outcome<?> outcome, long ranNanos) {
                if (node.name().equals("local price")) {
                    localHasFailed.countDown();
                }
            }
        };
        try (Shop shop = new Shop(Map.of("/local/kettle", broken, "/rate", later))) {
            FlowResult<Page> result = new CheckoutExample(client, shop.address(), time).checkout(ORDER, listener);

            assertThat(result.value()).isEqualTo(new Page("Ada", 1800, true));
            assertThat(result.node("local price").state()).isEqualTo(NodeState.FAILED);
            assertThat(result.status()).isEqualTo(FlowStatus.DEGRADED);
        }
    }

    @Test
    void a_price_source_that_would_fail_is_cancelled_if_the_other_answers_first() throws Exception {
        FlowResult<Page> result = checkout(Map.of("/local/kettle", silent));

        assertThat(result.value()).isEqualTo(new Page("Ada", 1800, true));
        assertThat(result.node("local price").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
    }

    @Test
    void the_page_shows_that_an_audit_has_failed() throws Exception {
        assertThat(checkout(Map.of("/audit/Ada", broken)).value()).isEqualTo(new Page("Ada", 1800, false));
    }

    @Test
    void a_page_without_a_price_fails_at_the_deadline() throws Exception {
        try (Shop shop = new Shop(Map.of("/local/kettle", silent, "/rate", broken));
                ThreadScope scope = ThreadScope.open()) {
            CheckoutExample example = new CheckoutExample(client, shop.address(), time);
            Task<FlowResult<Page>> checkout = scope.submit("checkout", () -> example.checkout(ORDER));
            asked.await();

            time.advance(CheckoutExample.DEADLINE);

            FlowResult<Page> result = checkout.await();
            assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.node("page").state()).isEqualTo(NodeState.TIMED_OUT);
        }
    }
}
