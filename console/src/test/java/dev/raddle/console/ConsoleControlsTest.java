package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.RawClient.Answer;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class ConsoleControlsTest {

    private static final String TOKEN = "a-token-of-the-tests-1";
    private static final String BEARER = "Authorization: Bearer " + TOKEN;

    private final Console console =
            Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN).withControls(true));
    private final CountDownLatch end = new CountDownLatch(1);
    private final GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build());

    ConsoleControlsTest() {
        console.watch("tests", executor);
    }

    @AfterEach
    void close() {
        end.countDown();
        executor.shutdown();
        console.close();
    }

    private Answer control(String action, String key, Object value) throws IOException {
        return control(action, key, "", value);
    }

    private Answer control(String action, String key, String ref, Object value) throws IOException {
        Map<String, Object> command =
                new HashMap<>(Map.of("action", action, "executor", "tests", "key", key, "ref", ref));
        command.put("value", value);
        String body = new JsonMapper().writeValueAsString(command);
        return RawClient.post(console.uri(), "/api/control", body, "Content-Type: application/json", BEARER);
    }

    private ObjectNode see(String query, Predicate<ObjectNode> property) throws IOException {
        try (RawClient stream = RawClient.stream(console.uri(), query, BEARER)) {
            return RawClient.await(stream, Json.object(Map.of()), property);
        }
    }

    private TaskHandle<?> block(String key, String id) {
        return executor.submit(key, id, () -> {
            end.await();
            return null;
        });
    }

    @Test
    void limits_and_rates_can_be_changed() throws Exception {
        block("a", "1");

        Answer limit = control("setLimit", "a", 7);
        Answer rate = control("setRate", "a", "10/1000");

        assertThat(limit.status()).isEqualTo(200);
        assertThat(limit.body()).isEqualTo("{\"done\":\"group \\\"a\\\" has the limit 7\"}");
        assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(7);
        assertThat(rate.status()).isEqualTo(200);
        assertThat(executor.groupStats("a").orElseThrow().rate()).isEqualTo(Rate.perSecond(10));
        assertThat(control("setRate", "a", null).status()).isEqualTo(200);
        assertThat(executor.groupStats("a").orElseThrow().rate()).isNull();
    }

    @Test
    void a_change_says_who_made_it_and_the_value_before() throws Exception {
        try (GroupExecutor heard = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(8)
                .addListener(console.listener("tests"))
                .build())) {
            console.watch("tests", heard);
            heard.setMaxConcurrency("a", 4);

            control("setLimit", "a", 1);

            ObjectNode wrong = see("view=wrong", now -> now.path("changes").size() == 2);
            assertThat(wrong.at("/changes/0/who").asString()).isEqualTo("console");
            assertThat(wrong.at("/changes/0/from").asString()).isEqualTo("127.0.0.1");
            assertThat(wrong.at("/changes/0/before").asString()).isEqualTo("4");
            assertThat(wrong.at("/changes/0/after").asString()).isEqualTo("1");
            assertThat(wrong.at("/changes/1/who").asString()).isEqualTo("program");
            assertThat(wrong.at("/changes/1/before").asString()).isEqualTo("8");
            ObjectNode group = see("view=group&executor=tests&key=a", now -> now.has("row"));
            assertThat(group.path("changes").size()).isEqualTo(2);
        }
    }

    @Test
    void a_group_can_be_paused_resumed_put_on_hold_and_evicted() throws Exception {
        block("a", "1");
        TaskHandle<?> waiting = block("a", "2");

        assertThat(control("pause", "a", null).status()).isEqualTo(200);
        assertThat(executor.groupStats("a").orElseThrow().paused()).isTrue();
        assertThat(control("resume", "a", null).status()).isEqualTo(200);
        assertThat(executor.groupStats("a").orElseThrow().paused()).isFalse();
        assertThat(control("hold", "a", 3_600_000).status()).isEqualTo(200);
        assertThat(executor.groupStats("a").orElseThrow().holdLeft()).isPositive();
        for (int shorter : new int[] {0, 60_000}) {
            Answer refused = control("hold", "a", shorter);
            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.problem()).contains("not ended or shortened");
        }
        assertThat(executor.groupStats("a").orElseThrow().holdLeft()).isGreaterThan(Duration.ofMinutes(50));
        assertThat(control("evict", "a", null).status()).isEqualTo(200);
        assertThat(waiting.isDone()).isTrue();
    }

    @Test
    void the_breaker_of_a_group_can_be_opened_and_reset() throws Exception {
        try (GroupExecutor breaking = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .breaker(key -> key.equals("none") ? null : CircuitBreaker.failureRate(0.5))
                .build())) {
            console.watch("tests", breaking);
            breaking.call("a", () -> "answer");
            breaking.call("none", () -> "answer");
            see(
                    "view=group&executor=tests&key=a",
                    now -> now.at("/row/breaker").asString("").equals("closed"));

            Answer opened = control("openBreaker", "a", 60_000);

            assertThat(opened.body()).isEqualTo("{\"done\":\"the breaker of group \\\"a\\\" is open for 60000 ms\"}");
            see(
                    "view=group&executor=tests&key=a",
                    now -> now.at("/row/breaker").asString("").equals("open"));
            assertThat(control("resetBreaker", "a", null).status()).isEqualTo(200);
            see(
                    "view=group&executor=tests&key=a",
                    now -> now.at("/row/breaker").asString("").equals("closed"));
            assertThat(control("openBreaker", "a", 0).status()).isEqualTo(400);
            assertThat(control("openBreaker", "none", 1).problem()).isEqualTo("group \"none\" has no breaker");
            assertThat(control("resetBreaker", "none", null).problem()).isEqualTo("group \"none\" has no breaker");
            ObjectNode audit = see("view=audit", now -> now.at("/rows").size() == 5);
            assertThat(audit.at("/rows/4/action").asString()).isEqualTo("openBreaker");
            assertThat(audit.at("/rows/4/before").asString()).isEqualTo("closed, 0 % of 1 tasks failed");
            assertThat(audit.at("/rows/3/before").asString()).isEqualTo("open");
        }
    }

    @Test
    void a_task_can_be_cancelled() throws Exception {
        block("a", "1");
        TaskHandle<?> waiting = block("a", "2");
        ObjectNode group = see(
                "view=group&executor=tests&key=a",
                now -> now.at("/order/waiting").size() == 1);
        String ref = group.at("/order/waiting/0").asString();

        Answer answer = control("cancelTask", "a", ref, null);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(waiting.join().status()).isEqualTo(TaskStatus.CANCELLED);
        Answer again = control("cancelTask", "a", ref, null);
        assertThat(again.status()).isEqualTo(404);
        assertThat(again.problem()).isEqualTo("the task has ended");
    }

    @Test
    void a_run_can_be_cancelled_and_a_signal_delivered() throws Exception {
        FlowBuilder<Void> define = FlowPlan.define("order");
        FlowPlan<Void, Integer> plan = define.returning(define.signal("approved", Integer.class));
        try (FlowRun<Integer> first = console.startFlow(plan, null, RunOptions.defaults());
                FlowRun<Integer> second = console.startFlow(plan, null, RunOptions.defaults())) {
            ObjectNode waiting = see(
                    "view=flow&id=r1",
                    now -> now.at("/nodes/approved/state").asString("").equals("waiting"));
            assertThat(waiting.at("/nodes/approved/signal").asBoolean()).isTrue();

            assertThat(control("signal", "approved", "r1", "no number").status())
                    .isEqualTo(400);
            assertThat(control("signal", "none", "r1", "17").status()).isEqualTo(400);
            assertThat(control("signal", "approved", "r1", "17").status()).isEqualTo(200);
            assertThat(first.get()).isEqualTo(17);
            assertThat(control("cancelRun", "", "r2", "a test").status()).isEqualTo(200);
            assertThat(second.join().status()).isEqualTo(FlowStatus.CANCELLED);
            see("view=flows", now -> now.at("/summary/flows/running").asInt(9) == 0);
            assertThat(control("cancelRun", "", "r2", null).status()).isEqualTo(409);
            assertThat(control("cancelRun", "", "none", null).status()).isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"action\":\"none\",\"executor\":\"tests\",\"key\":\"a\"}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\",\"value\":0}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\",\"value\":\"5\"}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\",\"value\":1.5}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\",\"value\":99999999999}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\",\"value\":-4294967291}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"a\"}",
                "{\"action\":\"setLimit\",\"executor\":\"tests\",\"key\":\"unknown\",\"value\":5}",
                "{\"action\":\"setLimit\",\"executor\":\"none\",\"key\":\"a\",\"value\":5}",
                "{\"action\":\"setRate\",\"executor\":\"tests\",\"key\":\"a\",\"value\":\"10\"}",
                "{\"action\":\"setRate\",\"executor\":\"tests\",\"key\":\"a\",\"value\":\"0/1000\"}",
                "{\"action\":\"hold\",\"executor\":\"tests\",\"key\":\"a\",\"value\":-1}",
                "{\"action\":[\"pause\"],\"executor\":\"tests\",\"key\":\"a\"}",
                "null"
            })
    void what_makes_no_sense_is_refused_with_a_sentence_and_changes_nothing(String body) throws Exception {
        block("a", "1");

        Answer answer = RawClient.post(console.uri(), "/api/control", body, "Content-Type: application/json", BEARER);

        assertThat(answer.status()).isBetween(400, 404);
        assertThat(answer.problem()).isNotBlank();
        assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(1);
        assertThat(executor.groupStats("a").orElseThrow().rate()).isNull();
        assertThat(executor.groupStats("unknown")).isEmpty();
    }

    @Test
    void the_audit_list_has_what_was_done_and_what_was_refused_the_latest_first() throws Exception {
        block("a", "1");
        control("setLimit", "a", 7);
        control("setLimit", "a", 0);

        ObjectNode audit = see("view=audit", now -> now.at("/rows").size() == 2);

        assertThat(audit.at("/rows/0/done").asString()).startsWith("refused: maxConcurrency of group \"a\" must be");
        assertThat(audit.at("/rows/1/action").asString()).isEqualTo("setLimit");
        assertThat(audit.at("/rows/1/target").asString()).isEqualTo("tests / a");
        assertThat(audit.at("/rows/1/value").asString()).isEqualTo("7");
        assertThat(audit.at("/rows/1/before").asString()).isEqualTo("1");
        assertThat(audit.at("/rows/1/who").asString()).isEqualTo("127.0.0.1");
        assertThat(audit.at("/rows/1/at").asLong()).isPositive();
        assertThat(audit.path("controls").asBoolean()).isTrue();
    }

    @Test
    void the_audit_list_is_bounded() throws Exception {
        block("a", "1");
        for (int i = 1; i <= 205; i++) {
            control("setLimit", "a", i);
        }
        ObjectNode audit = see("view=audit", now -> now.at("/rows").size() > 0);

        assertThat(audit.at("/rows")).hasSize(200);
        assertThat(audit.at("/rows/0/value").asString()).isEqualTo("205");
    }

    @Test
    void controls_that_are_off_change_nothing_also_with_the_token() throws Exception {
        block("a", "1");
        try (Console shows = Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN))) {
            shows.watch("tests", executor);
            Answer answer = RawClient.post(
                    shows.uri(),
                    "/api/control",
                    "{\"action\":\"pause\",\"executor\":\"tests\",\"key\":\"a\"}",
                    "Content-Type: application/json",
                    BEARER);

            assertThat(answer.status()).isEqualTo(403);
            assertThat(executor.groupStats("a").orElseThrow().paused()).isFalse();
        }
    }

    @Test
    void a_line_break_in_a_name_does_not_make_a_line_in_the_log() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                lines.add(new SimpleFormatter().formatMessage(logged));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.raddle.console");
        logger.addHandler(handler);
        try {
            block("a\nforged", "1");

            assertThat(control("pause", "a\nforged", null).status()).isEqualTo(200);

            assertThat(lines).anyMatch(line -> line.contains("a forged"));
        } finally {
            logger.removeHandler(handler);
        }
    }
}
