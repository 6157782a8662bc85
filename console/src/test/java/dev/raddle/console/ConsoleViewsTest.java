package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Rate;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class ConsoleViewsTest {

    private final Console console = Console.start(ConsoleOptions.defaults().withPort(0));
    private final CountDownLatch end = new CountDownLatch(1);
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
            .defaultMaxConcurrencyPerGroup(2)
            .globalMaxInFlight(100)
            .addListener(console.listener("tests"))
            .build());

    @AfterEach
    void close() {
        end.countDown();
        executor.shutdown();
        console.close();
    }

    /** Returns the first state of a view that has a property. */
    private ObjectNode see(String query, Predicate<ObjectNode> property) throws IOException {
        try (RawClient stream = RawClient.stream(console.uri(), query)) {
            return RawClient.await(stream, Json.object(Map.of()), property);
        }
    }

    private static Predicate<ObjectNode> has(String pointer) {
        return state -> !state.at(pointer).isMissingNode();
    }

    private static Predicate<ObjectNode> has(String pointer, String value) {
        return state -> state.at(pointer).asString("").equals(value);
    }

    private static Predicate<ObjectNode> isEmpty(String member) {
        return state -> state.has(member) && state.path(member).isEmpty();
    }

    private TaskHandle<?> block(String key, String id) {
        return executor.submit(key, id, () -> {
            end.await();
            return null;
        });
    }

    /** Blocks a group, and returns when its slots are taken. */
    private void block(String key, int running, int waiting) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(running);
        for (int i = 0; i < running; i++) {
            executor.submit(key, "running-" + i, () -> {
                begun.countDown();
                end.await();
                return null;
            });
        }
        for (int i = 0; i < waiting; i++) {
            block(key, "waiting-" + i);
        }
        begun.await();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text.replace("\uD800", "\uFFFEd800"), StandardCharsets.UTF_8);
    }

    // Groups.

    @Test
    void a_group_has_its_limit_its_tasks_and_the_reason_for_which_the_next_one_waits() throws Exception {
        console.watch("tests", executor);
        block("payments", 2, 3);

        JsonNode row =
                see("view=groups", has("/rows/5:tests:payments/running", "2")).at("/rows/5:tests:payments");

        assertThat(row.path("executor").asString()).isEqualTo("tests");
        assertThat(row.path("key").asString()).isEqualTo("payments");
        assertThat(row.path("limit").asInt()).isEqualTo(2);
        assertThat(row.path("waiting").asInt()).isEqualTo(3);
        assertThat(row.path("oldestAt").asLong()).isPositive().isLessThanOrEqualTo(System.currentTimeMillis());
        assertThat(row.path("why").asString()).startsWith("waits for a slot of its group");
        assertThat(row.path("paused").asBoolean()).isFalse();
        assertThat(row.path("rejected").asInt()).isZero();
    }

    @Test
    void every_state_says_where_it_is_from_and_sums_everything_up() throws Exception {
        console.watch("tests", executor);
        block("payments", 2, 3);

        ObjectNode state = see("view=pools", has("/summary/groups/waiting", "3"));

        assertThat(state.path("controls").asBoolean()).isFalse();
        assertThat(state.path("title").asString()).isNotBlank();
        assertThat(state.path("startedAt").asLong())
                .isPositive()
                .isLessThan(state.path("at").asLong());
    }

    @Test
    void groups_are_sorted_filtered_and_shown_page_by_page() throws Exception {
        console.watch("tests", executor);
        for (int i = 1; i <= 12; i++) {
            block("g%02d".formatted(i), 2, i);
        }
        block("other", 1, 0);

        ObjectNode most = see("view=groups&sort=waiting&size=5", has("/total", "13"));
        ObjectNode second = see("view=groups&sort=key&size=5&page=1", has("/total", "13"));
        ObjectNode filtered = see("view=groups&filter=G1", has("/total"));
        ObjectNode stopped = see("view=groups&stopped=true&sort=key", has("/total"));
        ObjectNode beyond = see("view=groups&sort=key&size=5&page=2147483647", has("/total"));

        assertThat(keys(most)).containsExactly("g12", "g11", "g10", "g09", "g08");
        assertThat(keys(second)).containsExactly("g06", "g07", "g08", "g09", "g10");
        assertThat(keys(filtered)).containsExactlyInAnyOrder("g10", "g11", "g12");
        assertThat(keys(stopped)).hasSize(12).doesNotContain("other");
        assertThat(keys(beyond)).containsExactly("g11", "g12", "other"); // the last page
    }

    private static List<String> keys(ObjectNode state) {
        List<String> keys = new ArrayList<>();
        for (JsonNode id : state.path("order")) {
            keys.add(state.path("rows").path(id.asString()).path("key").asString());
        }
        return keys;
    }

    @Test
    void the_group_whose_task_has_waited_longest_comes_first() throws Exception {
        console.watch("tests", executor);
        block("first", 2, 1);
        long now = System.currentTimeMillis();
        while (System.currentTimeMillis() < now + 150) {
            Thread.onSpinWait(); // moments are compared
        }
        block("second", 2, 20);
        block("idle", 1, 0);

        assertThat(keys(see("view=groups&sort=oldest", has("/total", "3")))).containsExactly("first", "second", "idle");
    }

    @Test
    void rejections_and_failures_are_counted_also_while_no_client_looks() throws Exception {
        GroupExecutor small = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .addListener(console.listener("small"))
                .build());
        try (small) {
            console.watch("small", small);
            small.submit("a", () -> {
                        throw new IOException("broken");
                    })
                    .join();
            small.pauseGroup("a");
            TaskHandle<?> waiting = small.submit("a", "w", () -> null);
            small.evictGroup("a");
            waiting.toCompletableFuture().handle((result, error) -> null).join();
            small.setMaxConcurrency("a", 2);

            ObjectNode state = see("view=groups", has("/rows/5:small:a/failed", "1"));

            assertThat(state.at("/rows/5:small:a/rejected").asInt()).isEqualTo(1);
        }
    }

    @Test
    void a_group_that_is_paused_on_hold_or_limited_by_a_rate_says_so() throws Exception {
        console.watch("tests", executor);
        executor.pauseGroup("a");
        executor.holdGroup("b", Duration.ofHours(1));
        executor.setRate("c", Rate.perSecond(7));

        ObjectNode state = see("view=groups", has("/total", "3"));

        assertThat(state.at("/rows/5:tests:a/paused").asBoolean()).isTrue();
        assertThat(state.at("/rows/5:tests:b/holdUntilAt").asLong())
                .isBetween(System.currentTimeMillis() + 3_500_000, System.currentTimeMillis() + 3_602_000);
        assertThat(state.at("/rows/5:tests:c/rate").asString()).isEqualTo("7 per second");
    }

    @Test
    void a_group_shows_who_holds_its_slots_and_who_waits_for_them_in_order() throws Exception {
        console.watch("tests", executor);
        block("payments", 2, 150);

        ObjectNode state = see(
                "view=group&executor=tests&key=payments",
                now -> now.at("/order/running").size() == 2
                        && now.at("/row/waiting").asInt(0) == 150);

        List<String> names = new ArrayList<>();
        state.at("/order/waiting")
                .forEach(ref -> names.add(
                        state.path("waiting").path(ref.asString()).path("name").asString()));
        assertThat(names).hasSize(100).startsWith("waiting-0", "waiting-1").endsWith("waiting-99");
        JsonNode third = state.path("waiting").path(state.at("/order/waiting/2").asString());
        assertThat(third.path("place").asInt()).isEqualTo(2);
        assertThat(third.path("why").asString()).contains("2 before it");
        JsonNode running =
                state.path("running").path(state.at("/order/running/0").asString());
        assertThat(running.path("sinceAt").asLong()).isPositive();
        assertThat(running.path("thread").asString()).isNotBlank();
    }

    @Test
    void a_running_task_keeps_its_name_and_its_stack_can_be_read() throws Exception {
        console.watch("tests", executor);
        block("payments", 1, 0);
        String query = "executor=tests&key=payments";
        ObjectNode first = see("view=group&" + query, has("/order/running/0"));
        ObjectNode second = see("view=group&" + query, has("/order/running/0"));
        String ref = first.at("/order/running/0").asString();

        RawClient.Answer stack = RawClient.get(console.uri(), "/api/stack?" + query + "&task=" + ref);

        assertThat(second.at("/order/running/0").asString()).isEqualTo(ref);
        assertThat(second.at("/running/" + ref)).isEqualTo(first.at("/running/" + ref));
        assertThat(stack.status()).isEqualTo(200);
        assertThat(stack.header("Content-Type")).startsWith("text/plain");
        assertThat(stack.body()).contains("CountDownLatch.await").contains("ConsoleViewsTest");
        assertThat(RawClient.get(console.uri(), "/api/stack?" + query + "&task=none")
                        .status())
                .isEqualTo(404);
        assertThat(RawClient.get(console.uri(), "/api/stack?executor=none&key=a&task=t1")
                        .status())
                .isEqualTo(404);
    }

    @Test
    void a_group_that_is_not_there_has_no_row() throws Exception {
        console.watch("tests", executor);

        ObjectNode state = see("view=group&executor=tests&key=none", has("/order"));

        assertThat(state.has("row")).isFalse();
        assertThat(state.at("/order/running")).isEmpty();
    }

    static List<String> names() {
        return List.of(
                "<script>alert(1)</script>",
                "\u202eright to left",
                "\uD83D\uDE00\uD83C\uDFF3\uFE0F\u200D\uD83C\uDF08",
                "a/b~c:d%20&e=f?g#h",
                "line\nbreak\r\n\r\nevent: patch\ndata: {}\n\n",
                "quote\"back\\slash",
                "\u0000\u2028\uD800",
                "",
                "x".repeat(10_000));
    }

    @ParameterizedTest
    @MethodSource("names")
    void a_name_may_have_any_characters(String name) throws Exception {
        console.watch(name, executor);
        block(name, 1, 0);
        executor.submit(name, name, () -> {
                    throw new IllegalStateException(name);
                })
                .join();

        ObjectNode groups = see("view=groups", has("/total", "1"));
        assertThat(keys(groups)).containsExactly(name);
        ObjectNode group =
                see("view=group&executor=" + encoded(name) + "&key=" + encoded(name), has("/order/running/0"));
        assertThat(group.at("/row/key").asString()).isEqualTo(name);
        ObjectNode failures = see("view=failures", has("/order/0"));
        assertThat(failures.at("/rows/e1/message").asString().length()).isLessThanOrEqualTo(1_001);
    }

    @Test
    void an_executor_that_has_shut_down_or_is_not_watched_disappears() throws Exception {
        Console.Watch watch = console.watch("tests", executor);
        GroupExecutor other = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build());
        console.watch("other", other);
        assertThat(see("view=groups", has("/executors/other")).has("executors")).isTrue();

        other.close();
        watch.close();

        see("view=groups", isEmpty("executors"));
    }

    @Test
    void what_only_a_listener_counts_is_unknown_without_one() throws Exception {
        try (GroupExecutor other = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build())) {
            console.watch("other", other);
            other.submit("a", () -> {
                end.await();
                return null;
            });

            ObjectNode list = see("view=groups", has("/rows/5:other:a/spark"));
            ObjectNode group = see("view=group&executor=other&key=a", has("/series/waiting"));

            assertThat(list.path("rows").path("5:other:a").propertyNames())
                    .doesNotContain("startsPerSecond", "rejected", "failed", "oldestAt");
            assertThat(group.path("series").propertyNames()).doesNotContain("starts");
            end.countDown();
        }
    }

    // Failures.

    @Test
    void failures_are_grouped_by_their_message_without_numbers() throws Exception {
        console.watch("tests", executor);
        for (int i = 0; i < 30; i++) {
            int number = i;
            executor.submit("g" + i % 7, () -> {
                        throw new IOException("no answer from 10.0.0." + number);
                    })
                    .join();
        }
        executor.submit("other", () -> {
                    throw new IllegalStateException("wrong", new IOException("inside"));
                })
                .join();

        ObjectNode all = see("view=failures", has("/order/1"));
        ObjectNode one = see("view=failures&filter=ANSWER", has("/order/0"));
        ObjectNode group = see("view=group&executor=tests&key=g3", has("/failures/order/0"));

        assertThat(all.at("/summary/failures/kinds").asInt()).isEqualTo(2);
        assertThat(one.path("order")).hasSize(1);
        JsonNode row = one.path("rows").path(one.at("/order/0").asString());
        assertThat(row.path("count").asInt()).isEqualTo(30);
        assertThat(row.path("type").asString()).isEqualTo("java.io.IOException");
        assertThat(row.path("message").asString()).isEqualTo("no answer from 10.0.0.29");
        assertThat(row.path("owners")).hasSize(5);
        assertThat(row.at("/owners/0").asString()).isEqualTo("tests / g1");
        assertThat(row.path("firstAt").asLong())
                .isLessThanOrEqualTo(row.path("lastAt").asLong());
        assertThat(row.path("stack").asString())
                .startsWith("java.io.IOException: no answer")
                .contains("    at ");
        assertThat(group.at("/failures/order")).hasSize(1);
        JsonNode latest = all.path("rows").path(all.at("/order/0").asString());
        assertThat(latest.path("stack").asString()).contains("Caused by: java.io.IOException: inside");
    }

    // Pools.

    @Test
    void a_pool_that_does_not_drain_shows_its_stuck_tasks_with_stacks() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        ThreadPool pool = ThreadPool.builder("reports")
                .threads(2)
                .queueCapacity(10)
                .listener(console.poolListener("reports"))
                .stuckAfter(Duration.ofMillis(20))
                .build();
        console.watch(pool);
        for (int i = 0; i < 5; i++) {
            pool.execute(new Runnable() {
                @Override
                public void run() {
                    begun.countDown();
                    awaitEnd();
                }

                @Override
                public String toString() {
                    return "report";
                }
            });
        }
        begun.await();
        pool.shutdown();

        ObjectNode state = see("view=pools", has("/rows/reports/stuck/1"));

        JsonNode row = state.at("/rows/reports");
        assertThat(row.path("state").asString()).isEqualTo("shutdown");
        assertThat(row.path("drainingSeenAt").asLong()).isPositive();
        assertThat(row.path("active").asInt()).isEqualTo(2);
        assertThat(row.path("queued").asInt()).isEqualTo(3);
        assertThat(row.path("capacity").asInt()).isEqualTo(10);
        assertThat(row.path("accepted").asInt()).isEqualTo(5);
        assertThat(row.at("/stuck/0/task").asString()).isEqualTo("report");
        assertThat(row.at("/stuck/0/stack").asString()).contains("awaitEnd");
        assertThat(state.at("/summary/pools/stuck").asInt()).isEqualTo(2);

        end.countDown();
        pool.awaitTermination(30, TimeUnit.SECONDS);
        see("view=pools", isEmpty("order"));
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    // Flows.

    @Test
    void a_run_shows_what_its_nodes_wait_for_while_it_runs_and_how_it_ended() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("order");
        Node<String> first = define.node("first", run -> "1");
        Node<String> slow = define.node("slow", run -> {
            end.await();
            return "2";
        });
        Node<String> both = define.node("both", first, slow, (run, a, b) -> a + b);
        FlowPlan<Void, String> plan = define.returning(both);
        try (FlowRun<String> run = console.startFlow(plan, null, RunOptions.defaults())) {
            String id = see("view=flows", has("/order/0")).at("/order/0").asString();

            ObjectNode live = see("view=flow&id=" + id, has("/nodes/first/state", "succeeded"));
            assertThat(live.at("/row/state").asString()).isEqualTo("running");
            assertThat(live.at("/row/nodes").asInt()).isEqualTo(3);
            assertThat(live.at("/nodes/both/state").asString()).isEqualTo("pending");
            assertThat(live.at("/nodes/both/why").asString()).isEqualTo("waits for slow");
            assertThat(live.at("/nodes/first/endedAt").asLong())
                    .isGreaterThanOrEqualTo(live.at("/nodes/first/startedAt").asLong());
            assertThat(live.path("edges").toString()).contains("[\"slow\",\"both\",\"must\"]");

            end.countDown();
            run.get();
            ObjectNode ended = see("view=flow&id=" + id, has("/row/state", "succeeded"));
            assertThat(ended.at("/row/succeeded").asInt()).isEqualTo(3);
            assertThat(ended.at("/row/endedAt").asLong())
                    .isGreaterThanOrEqualTo(ended.at("/row/startedAt").asLong());
            assertThat(ended.at("/nodes/both/startedAt").asLong()).isPositive();
        }
    }

    @Test
    void a_node_that_waits_says_the_one_reason_that_holds() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("order");
        Node<String> approved = define.signal("approved", String.class);
        Node<Void> pause = define.sleep("pause", Duration.ofHours(9));
        FlowPlan<Void, String> plan = define.returning(
                define.node("ship", approved, (run, who) -> who).needs(Dependency.order(pause)));
        try (FlowRun<String> run = console.startFlow(plan, null, RunOptions.defaults())) {
            ObjectNode live = see("view=flow&id=r1", has("/nodes/pause/why"));

            assertThat(live.at("/nodes/approved/why").asString()).isEqualTo("waits for its signal");
            assertThat(live.at("/nodes/pause/why").asString()).matches("sleeps until 2\\d{3}-[-\\d]+T[:\\d]+Z");
            assertThat(live.at("/nodes/pause/signal").isMissingNode()).isTrue();
            run.cancel("the test ends");
        }
    }

    @Test
    void a_run_that_was_started_elsewhere_is_shown_too_and_only_failed_ones_on_request() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("import");
        Node<String> broken = define.node("broken", run -> {
            throw new IOException("no such file");
        });
        FlowPlan<Void, String> plan = define.returning(broken);
        FlowBuilder<Void> defineGood = FlowPlan.define("export");
        FlowPlan<Void, String> good = defineGood.returning(defineGood.node("fine", run -> "x"));
        try (FlowRun<String> failing = plan.start(null);
                FlowRun<String> succeeding = good.start(null)) {
            console.watch(failing, plan);
            console.watch(succeeding, good);
            failing.join();
            succeeding.join();

            ObjectNode all = see("view=flows", has("/total", "2"));
            ObjectNode failed = see("view=flows&failed=true", has("/total", "1"));
            String id = failed.at("/order/0").asString();
            ObjectNode detail = see("view=flow&id=" + id, has("/nodes/broken"));

            assertThat(all.at("/summary/flows/failed").asInt()).isEqualTo(1);
            assertThat(failed.path("rows").path(id).path("name").asString()).isEqualTo("import");
            assertThat(detail.at("/nodes/broken/error").asString()).contains("no such file");
            assertThat(detail.at("/row/failed").asInt()).isEqualTo(1);
        }
    }

    @Test
    void a_run_that_was_watched_long_after_its_start_has_ended_when_it_did() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("long");
        FlowPlan<Void, String> plan = define.returning(define.node("one", run -> {
            awaitEnd();
            return "x";
        }));
        VirtualTime time = new VirtualTime();
        try (FlowRun<String> run = plan.start(null, RunOptions.defaults().withTimeSource(time))) {
            time.advance(Duration.ofMinutes(10));
            console.watch(run, plan);
            end.countDown();
            run.get();

            JsonNode row =
                    see("view=flow&id=r1", has("/row/state", "succeeded")).path("row");

            long now = System.currentTimeMillis();
            assertThat(row.path("endedAt").asLong()).isLessThanOrEqualTo(now);
            assertThat(row.path("startedAt").asLong())
                    .isEqualTo(row.path("endedAt").asLong() - 600_000);
        }
    }

    @Test
    void the_last_fifty_ended_runs_are_kept_and_no_value_of_them() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("many");
        FlowPlan<Void, String> plan = define.returning(define.node("one", run -> "x"));
        for (int i = 0; i < 300; i++) {
            try (FlowRun<String> run = console.startFlow(plan, null, RunOptions.defaults())) {
                run.get();
            }
        }
        ObjectNode state = see("view=flows", has("/total", "50"));

        assertThat(state.at("/order/0").asString()).isEqualTo("r300");
    }

    @ParameterizedTest
    @ValueSource(strings = {"name", "state", "endedAt", "nodes", "edges"})
    void a_run_whose_code_throws_is_shown_so_and_no_other_run_or_screen_suffers(String broken) throws Exception {
        RunView run = (RunView) Proxy.newProxyInstance(
                RunView.class.getClassLoader(), new Class<?>[] {RunView.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(broken)) {
                        throw new AssertionError("thrown on purpose");
                    }
                    return switch (method.getName()) {
                        case "name" -> "imported";
                        case "state" -> "running";
                        case "startedAt" -> Instant.EPOCH;
                        case "endedAt" -> null;
                        case "nodes" -> Map.of();
                        default -> InvocationHandler.invokeDefault(proxy, method, arguments);
                    };
                });
        FlowBuilder<Void> define = FlowPlan.define("sound");
        FlowPlan<Void, String> plan = define.returning(define.node("one", each -> "x"));
        try (Console.Watch ignored = console.watch(run);
                FlowRun<String> sound = console.startFlow(plan, null, RunOptions.defaults())) {
            sound.get();

            ObjectNode list = see("view=flows", has("/rows/r2/state", "succeeded"));
            ObjectNode detail = see("view=flow&id=r1", has("/row/state", "unreadable"));

            assertThat(detail.at("/row/error").asString()).contains("thrown on purpose");
            assertThat(list.at("/total").asInt()).isEqualTo(2);
            assertThat(list.at("/rows/r1/state").asString())
                    .isEqualTo(broken.equals("edges") ? "running" : "unreadable");
            see("view=scopes", has("/summary/flows/failed"));
        }
    }

    @Test
    void a_pool_whose_queue_throws_is_unreadable_and_no_other_one() throws Exception {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>() {
            @Override
            public int size() {
                if (end.getCount() > 0) {
                    throw new AssertionError("thrown on purpose");
                }
                return super.size();
            }
        };
        try (ThreadPool pool = ThreadPool.builder("broken").queue(queue).build();
                ThreadPool sound = ThreadPool.builder("sound").threads(2).build()) {
            console.watch(pool);
            console.watch(sound);

            ObjectNode state = see("view=pools", has("/summary/pools/queued", "0"));

            assertThat(state.at("/rows/broken/state").asString()).isEqualTo("unreadable");
            assertThat(state.at("/rows/sound/state").asString()).isEqualTo("running");
            end.countDown();
        }
    }

    /** A run of another engine. */
    private record OtherRun(String name, @Nullable Instant endedAt, Runnable read) implements RunView {
        @Override
        public String state() {
            return endedAt == null ? "running" : "succeeded";
        }

        @Override
        public Instant startedAt() {
            return Instant.EPOCH;
        }

        @Override
        public @Nullable Instant endedAt() {
            read.run();
            return endedAt;
        }

        @Override
        public Map<String, Node> nodes() {
            return Map.of();
        }
    }

    @Test
    void the_runs_that_ended_first_are_forgotten_whenever_they_started() throws Exception {
        Instant begin = Instant.parse("2026-01-31T02:00:00Z");
        console.watch(new OtherRun("nightly", begin.plusSeconds(3_600), () -> {}));
        for (int i = 0; i < 60; i++) {
            console.watch(new OtherRun("short", begin.plusSeconds(i), () -> {}));
        }

        ObjectNode state = see("view=flows", has("/total"));

        assertThat(state.path("total").asInt()).isEqualTo(50);
        assertThat(state.at("/rows/r1/name").asString()).isEqualTo("nightly");
        assertThat(state.path("rows").propertyNames()).contains("r61").doesNotContain("r2", "r12");
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a wait for a lock cannot be interrupted
    void a_run_that_is_being_read_keeps_no_thread_from_watching_another_one() throws Exception {
        CountDownLatch isRead = new CountDownLatch(1);
        console.watch(new OtherRun("slow", null, () -> {
            isRead.countDown();
            awaitEnd();
        }));
        try (RawClient client = RawClient.stream(console.uri(), "view=flows")) {
            isRead.await();

            console.watch(new OtherRun("next", null, () -> {}));

            end.countDown();
            RawClient.await(client, Json.object(Map.of()), has("/total", "2"));
        }
    }

    @Test
    void an_unknown_run_has_no_row() throws Exception {
        assertThat(see("view=flow&id=none", has("/edges")).has("row")).isFalse();
    }

    // Scopes.

    @Test
    void scopes_are_a_tree_with_their_tasks() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        try (ThreadScope page = ThreadScope.open("page")) {
            console.watch("page", page);
            page.submit("part", () -> {
                try (ThreadScope part = ThreadScope.open("part")) {
                    part.submit("call", () -> {
                        begun.countDown();
                        end.await();
                        return null;
                    });
                    end.await();
                }
                return null;
            });
            begun.await();

            ObjectNode state = see("view=scopes", has("/scopes/1/tasks/0"));

            JsonNode root = state.at("/scopes/0");
            assertThat(root.path("name").asString()).isEqualTo("page");
            assertThat(root.path("state").asString()).isEqualTo("OPEN");
            assertThat(root.at("/tasks/0/name").asString()).isEqualTo("part");
            assertThat(root.at("/tasks/0/sinceAt").asLong()).isPositive();
            JsonNode inside = state.at("/scopes/1");
            assertThat(inside.path("depth").asInt()).isEqualTo(1);
            assertThat(inside.path("name").asString()).isEqualTo("part");
            assertThat(inside.at("/tasks/0/name").asString()).isEqualTo("call");
            assertThat(inside.at("/tasks/0/stack").asString()).contains("CountDownLatch");
            assertThat(state.at("/summary/scopes/count").asInt()).isEqualTo(1);
            end.countDown();
        }
        see("view=scopes", isEmpty("scopes"));
    }

    // Screens.

    @Test
    void each_view_has_a_screen_of_the_page() throws IOException {
        String frame = new String(new Page().get("app.js").bytes, StandardCharsets.UTF_8);
        List<String> screens = Pattern.compile("^  (\\w+): \\{ query: ", Pattern.MULTILINE)
                .matcher(frame)
                .results()
                .map(line -> line.group(1).toUpperCase(Locale.ROOT))
                .toList();

        assertThat(screens)
                .containsExactlyInAnyOrderElementsOf(
                        Arrays.stream(View.Kind.values()).map(View.Kind::name).toList());
    }
}
