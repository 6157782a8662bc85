package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DurableTest {

    private static final Durable.Page PAGE = new Durable.Page(
            Map.of("stuck", 1),
            false,
            List.of("o-1"),
            Map.of("o-1", new Durable.RunRow("shop", "1", "stuck", "lost", null, "w", 1, 2L)),
            null,
            Map.of());

    /** A database whose answers are those of its fields. */
    private static final class Database implements Durable.Source {
        volatile boolean isClosed;
        volatile Supplier<Durable.Page> page = () -> PAGE;
        volatile Supplier<@Nullable Map<String, Object>> run = () -> Map.of("entries", 1);
        volatile Supplier<String> request = () -> "done";

        @Override
        public boolean isClosed() {
            return isClosed;
        }

        @Override
        public boolean isUp() {
            return true;
        }

        @Override
        public int stuck() {
            return page.get().counts().getOrDefault("stuck", 0);
        }

        @Override
        public Durable.Page page(View view) {
            return page.get();
        }

        @Override
        public @Nullable Map<String, Object> run(String id) {
            return run.get();
        }

        @Override
        public String apply(String action, String run, String node, @Nullable String text) {
            return request.get();
        }
    }

    private final Database database = new Database();
    private final Durable durable = new Durable();
    private long now = 1_000_000;

    private Durable.Rows rows(String... parameters) {
        return durable.rows(view("durable", parameters), now);
    }

    private Map<String, Object> detail(String service) {
        return durable.detail(view("stored", "service", service, "id", "o-1"), now);
    }

    private static View view(String kind, String... parameters) {
        Map<String, String> query = new HashMap<>(Map.of("view", kind));
        for (int i = 0; i < parameters.length; i += 2) {
            query.put(parameters[i], parameters[i + 1]);
        }
        return View.of(query);
    }

    /** Spins; the timeout of the test ends it. */
    private static void spin() {
        assertThat(Thread.interrupted()).isFalse();
        Thread.onSpinWait();
    }

    private void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            now += 1_000;
            spin();
        }
    }

    @Test
    void a_database_that_does_not_answer_delays_no_view_and_is_asked_once_for_each() {
        Semaphore answers = new Semaphore(0);
        AtomicInteger calls = new AtomicInteger();
        database.page = () -> {
            calls.incrementAndGet();
            answers.acquireUninterruptibly();
            return PAGE;
        };
        durable.add("shop", database);

        for (int i = 0; i < 1_000; i++) {
            now += 1_000;
            assertThat(rows().page()).isNull();
            assertThat(rows("state", "stuck").page()).isNull();
            assertThat(durable.summary(now).stuck()).isZero();
        }
        assertThat(rows().problem().text()).isEqualTo("it has not answered yet");
        assertThat(rows().problem().sinceAt()).isEqualTo(1_001_000);
        assertThat(durable.summary(now).down()).isEqualTo(1);

        answers.release(100);
        await(() -> rows().page() != null && rows("state", "stuck").page() != null);
        await(() -> durable.summary(now).stuck() == 1);
    }

    @Test
    void readings_of_a_service_come_one_after_the_other_and_do_not_delay_another_service() {
        AtomicInteger active = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Semaphore answers = new Semaphore(0);
        database.page = () -> {
            most.accumulateAndGet(active.incrementAndGet(), Math::max);
            answers.acquireUninterruptibly();
            active.decrementAndGet();
            return PAGE;
        };
        durable.add("a", database);
        durable.add("b", new Database());
        for (int i = 0; i < 20; i++) {
            rows("service", "a", "flow", "flow-" + i);
        }

        await(() -> rows("service", "b").page() != null);
        answers.release(1_000);
        for (int i = 0; i < 20; i++) {
            String flow = "flow-" + i;
            await(() -> rows("service", "a", "flow", flow).page() != null);
        }
        assertThat(most).hasValue(1);
    }

    @Test
    void a_problem_has_its_first_moment_is_shown_beside_what_was_read_last_and_goes() {
        durable.add("shop", database);
        await(() -> rows().page() != null);
        AtomicInteger calls = new AtomicInteger();
        database.page = () -> {
            calls.incrementAndGet();
            throw new IllegalStateException("no connection");
        };
        await(() -> rows().problem() != null && rows().problem().text().contains("no connection"));
        long since = rows().problem().sinceAt();
        int before = calls.get();
        await(() -> rows().page() != null && calls.get() > before + 3);

        assertThat(rows().problem().sinceAt()).isEqualTo(since);
        assertThat(rows().page()).isEqualTo(PAGE);
        await(() -> durable.summary(now).down() == 1);

        database.page = () -> PAGE;
        await(() -> rows().problem() == null && durable.summary(now).down() == 0);
    }

    @Test
    void a_run_that_is_removed_while_a_page_looks_is_missing() {
        durable.add("shop", database);
        await(() -> detail("shop").containsKey("entries"));

        database.run = () -> null;

        await(() -> detail("shop").equals(Map.of("missing", "run")));
        assertThat(detail("nobody's")).isEqualTo(Map.of("missing", "service"));
    }

    @Test
    void a_service_that_is_closed_is_forgotten_and_so_is_one_whose_watch_ends() {
        Console.Watch watch = durable.add("a", database);
        Database other = new Database();
        durable.add("b", other);
        assertThat(rows().services()).containsExactly("a", "b");
        assertThat(rows().service()).isEqualTo("a");
        assertThat(rows("service", "b").service()).isEqualTo("b");
        await(() -> rows().stuck().equals(Map.of("a", 1, "b", 1)));

        other.isClosed = true;
        assertThat(rows("service", "b").service()).isEqualTo("a");
        assertThat(rows().stuck()).isEqualTo(Map.of("a", 1));
        assertThat(durable.summary(now).count()).isEqualTo(1);
        watch.close();
        assertThat(rows().service()).isNull();
        assertThatThrownBy(() -> durable.apply("a", "rerun", "o-1", "", null)).hasMessage("there is no such service");
    }

    @Test
    void a_request_that_is_not_answered_in_time_may_have_been_stored() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        database.request = () -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException late) {
                interrupted.countDown();
            }
            return "too late";
        };
        durable.add("shop", database);

        assertThatThrownBy(() -> durable.apply("shop", "rerun", "o-1", "", null))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status).isEqualTo(504))
                .hasMessageContaining("may have been stored");
        interrupted.await();
    }

    @Test
    void a_database_that_does_not_answer_gets_few_requests_at_a_time() throws Exception {
        CountDownLatch begun = new CountDownLatch(4);
        CountDownLatch answers = new CountDownLatch(1);
        database.request = () -> {
            begun.countDown();
            try {
                answers.await();
            } catch (InterruptedException late) {
                Thread.currentThread().interrupt();
            }
            return "done";
        };
        durable.add("shop", database);
        List<CompletableFuture<String>> requests = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            requests.add(CompletableFuture.supplyAsync(
                    () -> durable.apply("shop", "rerun", "o-1", "", null), Thread::startVirtualThread));
        }
        begun.await();

        assertThatThrownBy(() -> durable.apply("shop", "rerun", "o-1", "", null))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("this one was not sent");

        answers.countDown();
        for (CompletableFuture<String> request : requests) {
            assertThat(request.join()).isEqualTo("done");
        }
        assertThat(durable.apply("shop", "rerun", "o-1", "", null)).isEqualTo("done");
    }

    @Test
    void what_a_request_throws_is_answered_with_its_sentence() {
        durable.add("shop", database);
        refused(new Refusal(409, "the run has ended"), 409, "the run has ended");
        refused(new IllegalArgumentException("no node \"x\""), 400, "no node \"x\"");
        refused(new NoSuchElementException("it was removed"), 404, "it was removed");
        refused(new IllegalStateException("no connection"), 503, "no connection");
    }

    private void refused(RuntimeException failure, int status, String text) {
        database.request = () -> {
            throw failure;
        };
        assertThatThrownBy(() -> durable.apply("shop", "rerun", "o-1", "", null))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.status).isEqualTo(status))
                .hasMessageContaining(text);
    }

    @Test
    void a_request_makes_the_next_look_read_again() {
        AtomicInteger calls = new AtomicInteger();
        database.page = () -> {
            calls.incrementAndGet();
            return PAGE;
        };
        durable.add("shop", database);
        while (rows().page() == null) { // the clock stands, so it rests after that
            spin();
        }
        assertThat(durable.apply("shop", "rerun", "o-1", "", null)).isEqualTo("done");

        while (calls.get() < 2) {
            rows();
            spin();
        }
    }
}
