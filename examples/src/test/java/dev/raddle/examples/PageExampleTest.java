package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.raddle.examples.PageExample.Page;
import dev.raddle.scope.ScopeTimeoutException;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.VirtualTime;
import java.net.http.HttpClient;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PageExampleTest {

    private final VirtualTime time = new VirtualTime();
    private final HttpClient client = PageExample.newClient();
    private final CountDownLatch asked = new CountDownLatch(1);

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void a_page_has_the_answers_of_all_services() throws Exception {
        try (PageExample.Shop shop = new PageExample.Shop("/offers", () -> {})) {
            Page page = new PageExample(client, shop.address(), time).page();

            assertThat(page).isEqualTo(new Page("Ada", "3 orders", "a kettle at half the price"));
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void an_optional_slow_service_is_cancelled_and_replaced_by_a_default() throws Exception {
        try (PageExample.Shop shop = new PageExample.Shop("/offers", this::never);
                ThreadScope scope = ThreadScope.open()) {
            Task<Page> page = scope.submit("page", new PageExample(client, shop.address(), time)::page);
            asked.await();

            time.advance(PageExample.OFFERS_TIMEOUT);

            assertThat(page.await()).isEqualTo(new Page("Ada", "3 orders", PageExample.NO_OFFERS));
        }
    }

    @Test
    void a_page_without_a_required_answer_fails_at_its_deadline() throws Exception {
        try (PageExample.Shop shop = new PageExample.Shop("/orders", this::never);
                ThreadScope scope = ThreadScope.open()) {
            Task<Page> page = scope.submit("page", new PageExample(client, shop.address(), time)::page);
            asked.await();

            time.advance(PageExample.DEADLINE);

            ScopeTimeoutException late = catchThrowableOfType(ScopeTimeoutException.class, page::await);
            assertThat(late.unfinished()).contains("orders");
        }
    }

    private void never() throws InterruptedException {
        asked.countDown();
        new CountDownLatch(1).await();
    }
}
