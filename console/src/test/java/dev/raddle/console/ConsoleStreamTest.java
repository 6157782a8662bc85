package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

@Timeout(120)
class ConsoleStreamTest {

    private static final ConsoleOptions OPTIONS = ConsoleOptions.defaults().withPort(0);
    private static final ObjectNode NOTHING = Json.object(Map.of());

    private static GroupPolicy policy(Console console) {
        return GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .addListener(console.listener("tests"))
                .build();
    }

    @Test
    void a_client_that_has_followed_sees_the_same_as_one_that_comes_now() throws Exception {
        Random random = new Random(1);
        try (Console console = Console.start(OPTIONS);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy(console));
                RawClient old = RawClient.stream(console.uri(), "view=groups&sort=key")) {
            console.watch("tests", executor);
            ObjectNode state = NOTHING;
            List<CountDownLatch> ends = new ArrayList<>();
            for (int round = 1; round <= 10; round++) {
                for (int i = random.nextInt(20); i >= 0; i--) {
                    CountDownLatch end = new CountDownLatch(1);
                    ends.add(end);
                    executor.submit("group-" + random.nextInt(8), () -> {
                        end.await();
                        return null;
                    });
                }
                if (round % 3 == 0) {
                    ends.subList(0, ends.size() / 2).forEach(CountDownLatch::countDown);
                }
                executor.setMaxConcurrency("round", round);
                int limit = round;
                state = RawClient.await(
                        old, state, now -> now.at("/rows/5:tests:round/limit").asInt(0) == limit);
            }
            try (RawClient now = RawClient.stream(console.uri(), "view=groups&sort=key")) {
                ObjectNode fresh = RawClient.await(now, NOTHING, each -> each.has("rows"));
                ObjectNode followed =
                        RawClient.await(old, state, each -> withoutTimes(each).equals(withoutTimes(fresh)));

                assertThat(withoutTimes(followed)).isEqualTo(withoutTimes(fresh));
                assertThat(fresh.at("/total").asInt(0)).isEqualTo(9);
            }
            ends.forEach(CountDownLatch::countDown);
        }
    }

    @Test
    void a_console_answers_while_the_program_keeps_every_carrier_of_virtual_threads_busy() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        try (Console console = Console.start(OPTIONS)) {
            for (int i = 0; i < carriers; i++) {
                Thread.ofVirtual().start(() -> {
                    busy.countDown();
                    while (!isOver.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            busy.await();

            try (RawClient page = RawClient.stream(console.uri(), "view=groups")) {
                assertThat(RawClient.await(page, NOTHING, state -> state.has("rows")))
                        .isNotNull();
            } finally {
                isOver.set(true);
            }
        }
    }

    /** What changes while nothing happens. */
    private static ObjectNode withoutTimes(ObjectNode state) {
        ObjectNode copy = state.deepCopy();
        copy.remove("at");
        copy.path("rows").forEach(row -> ((ObjectNode) row).remove(List.of("spark", "startsPerSecond")));
        return copy;
    }

    @Test
    void nothing_is_read_while_no_client_looks() throws Exception {
        try (Console console = Console.start(OPTIONS);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy(console))) {
            console.watch("tests", executor);
            executor.submit("a", () -> "done").await();
            assertThat(console.sampler.samples()).isZero();
            assertThat(console.sampler.isActive()).isFalse();

            RawClient stream = RawClient.stream(console.uri(), "view=groups");
            stream.event();
            assertThat(console.sampler.samples()).isPositive();
            stream.close();
            awaitNoClient(console, executor);

            assertThat(console.sampler.isActive()).isFalse();
            long samples = console.sampler.samples();
            executor.submit("a", () -> "done").await();
            assertThat(console.sampler.samples()).isEqualTo(samples);
        }
    }

    /** A server notices that a client has gone when it writes to it. */
    private static void awaitNoClient(Console console, GroupExecutor executor) throws InterruptedException {
        for (int limit = 1; console.sampler.isActive(); limit++) {
            executor.setMaxConcurrency("a", limit);
            Thread.yield();
        }
    }

    @Test
    void clients_beyond_the_limit_are_refused_with_a_sentence() throws Exception {
        try (Console console = Console.start(OPTIONS.withClients(2));
                RawClient first = RawClient.stream(console.uri(), "view=groups");
                RawClient second = RawClient.stream(console.uri(), "view=pools")) {
            first.event();
            second.event();

            RawClient.Answer third = RawClient.get(console.uri(), "/api/stream?view=groups");

            assertThat(third.status()).isEqualTo(503);
            assertThat(third.problem()).contains("2 clients");
        }
    }

    @Test
    void a_client_that_does_not_read_is_dropped_and_others_are_not() throws Exception {
        String name = "x".repeat(10_000);
        try (Console console = Console.start(OPTIONS.withClients(2), Duration.ofMillis(300), Sampler.LONGEST_REST);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy(console));
                RawClient reader = RawClient.stream(console.uri(), "view=groups&filter=marker");
                Socket slow = slowClient(console.uri())) {
            console.watch("tests", executor);
            ObjectNode state = NOTHING;
            for (int round = 1; ; round++) { // each patch has megabytes, so the buffers of the system are soon full
                for (int i = 0; i < 400; i++) {
                    executor.setMaxConcurrency(name + i, round);
                    executor.evictGroup(name + (round - 1) + "-" + i);
                    executor.setMaxConcurrency(name + round + "-" + i, 1);
                }
                executor.setMaxConcurrency("marker", round);
                int limit = round;
                state = RawClient.await(
                        reader,
                        state,
                        now -> now.at("/rows/5:tests:marker/limit").asInt(0) == limit);
                try (RawClient third = RawClient.stream(console.uri(), "view=pools")) {
                    third.event();
                    break; // the slow client has gone
                } catch (IOException refused) {
                    assertThat(refused).hasMessageContaining("503");
                }
            }
            assertThat(slow.isConnected()).isTrue(); // it has not gone by itself
        }
    }

    private static Socket slowClient(URI uri) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4_096);
        socket.connect(new InetSocketAddress("localhost", uri.getPort()));
        String request = "GET /api/stream?view=groups&sort=key&size=200 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    @Test
    void a_request_whose_body_does_not_come_is_ended() throws Exception {
        try (Console console = Console.start(OPTIONS, Duration.ofMillis(200), Sampler.LONGEST_REST);
                RawClient slow = new RawClient(console.uri())) {
            String[] headers = {"Content-Type: application/json", "Content-Length: 10"};
            slow.send(console.uri(), "POST", "/api/login", "", headers);

            assertThatThrownBy(slow::answer).isInstanceOf(IOException.class).hasMessageContaining("ended");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: local",
                "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
            })
    void a_request_that_stops_in_its_head_or_after_a_refusal_is_ended(String request) throws Exception {
        try (Console console = Console.start(OPTIONS, Duration.ofMillis(200), Sampler.LONGEST_REST);
                Socket slow = new Socket("localhost", console.uri().getPort())) {
            slow.setSoTimeout(10_000);
            slow.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));

            String answer = new String(slow.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(answer).matches(text -> text.isEmpty() == request.startsWith("GET"));
        }
    }

    @Test
    void many_unfinished_requests_keep_neither_a_new_one_out_nor_end_a_stream() throws Exception {
        List<RawClient> slow = new ArrayList<>();
        try (Console console = Console.start(OPTIONS.withClients(1), Duration.ofMinutes(10), Sampler.LONGEST_REST);
                RawClient stream = RawClient.stream(console.uri(), "view=groups");
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy(console))) {
            stream.event();
            for (int i = 0; i < 200; i++) {
                RawClient client = new RawClient(console.uri());
                client.write("GET / HTTP/1.1\r\n");
                slow.add(client);
            }
            assertThat(RawClient.get(console.uri(), "/").status()).isEqualTo(200);
            console.watch("tests", executor);
            executor.setMaxConcurrency("a", 3);
            RawClient.await(stream, NOTHING, now -> now.has("rows"));
        } finally {
            for (RawClient client : slow) {
                client.close();
            }
        }
    }

    @Test
    @Timeout(60)
    void clients_that_have_gone_make_room_for_others_soon_also_while_nothing_changes() throws Exception {
        try (Console console = Console.start(OPTIONS.withClients(1), Duration.ofSeconds(4), Sampler.LONGEST_REST)) {
            for (int i = 0; i < 2; i++) {
                try (RawClient client = streamWhenThereIsRoom(console)) {
                    client.event();
                }
            }
        }
    }

    private static RawClient streamWhenThereIsRoom(Console console) throws IOException {
        while (true) {
            try {
                return RawClient.stream(console.uri(), "view=audit");
            } catch (IOException refused) {
                assertThat(refused).hasMessageContaining("503");
                assertThat(Thread.currentThread().isInterrupted()).isFalse(); // by the timeout
            }
        }
    }

    @Test
    void closing_in_an_interrupted_thread_ends_the_server_too() throws Exception {
        Console console = Console.start(OPTIONS);
        try (RawClient groups = RawClient.stream(console.uri(), "view=groups")) {
            groups.event();
            Thread.currentThread().interrupt();

            console.close();

            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(() -> RawClient.get(console.uri(), "/")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void starting_in_an_interrupted_thread_leaves_no_server_behind() {
        for (int i = 0; i < 100; i++) {
            Thread.currentThread().interrupt();

            assertThatCode(() -> Console.start(OPTIONS).close()).doesNotThrowAnyException();

            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void an_error_in_one_view_neither_ends_the_others_nor_later_samples() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Sampler sampler = new Sampler(2, Sampler.LONGEST_REST, time -> {}, time -> {}, (view, now) -> {
            if (view.kind() == View.Kind.POOLS && calls.incrementAndGet() < 3) {
                throw new AssertionError("thrown on purpose");
            }
            return Json.object(Map.of("at", now));
        });
        Client broken = sampler.open(View.of(Map.of("view", "pools")));
        Client sound = sampler.open(View.of(Map.of("view", "groups")));

        assertThat(sound.await(Duration.ofSeconds(20))).isNotNull();
        assertThat(broken.await(Duration.ofSeconds(20))).isNotNull();
        sampler.remove(broken);
        sampler.remove(sound);
        sampler.close();
    }

    @Test
    void closing_ends_all_connections_and_all_threads() throws Exception {
        Console console = Console.start(OPTIONS);
        try (RawClient groups = RawClient.stream(console.uri(), "view=groups");
                RawClient scopes = RawClient.stream(console.uri(), "view=scopes")) {
            groups.event();
            scopes.event();

            console.close();

            assertThat(groups.event().name()).isEqualTo("end");
            assertThatThrownBy(groups::event).isInstanceOf(IOException.class);
            assertThat(scopes.event().name()).isEqualTo("end");
            assertThatThrownBy(scopes::event).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> RawClient.get(console.uri(), "/")).isInstanceOf(IOException.class);
            assertThat(console.sampler.isActive()).isFalse();
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().startsWith("HTTP-Dispatcher")) {
                    thread.join(10_000);
                    assertThat(thread.isAlive()).isFalse();
                }
            }
        }
        console.close(); // a second time has no effect
    }

    @Test
    void its_threads_do_not_keep_the_JVM_alive() {
        try (Console console = Console.start(OPTIONS)) {
            assertThat(console.uri().getPort()).isPositive();
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().startsWith("HTTP-Dispatcher"))
                    .isNotEmpty()
                    .allMatch(Thread::isDaemon);
        }
    }
}
