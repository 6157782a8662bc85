package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.console.RawClient.Answer;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.Schedule;
import dev.raddle.jdbc.StoredRun;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Real runs in a real database. */
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the build has no PostgreSQL for this machine")
class DurableConsoleTest {

    private static final String TOKEN = "a-token-of-the-tests-1";
    private static final String BEARER = "Authorization: Bearer " + TOKEN;

    private final LocalDatabase database;
    private final FlowService worker;
    private final Console console =
            Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN).withControls(true));

    DurableConsoleTest() throws Exception {
        database = new LocalDatabase();
        worker = database.worker().start();
        DurableConsole.watch(console, "shop", worker);
    }

    @AfterEach
    void close() {
        database.end.countDown();
        worker.close();
        console.close();
    }

    private ObjectNode see(String query, Predicate<ObjectNode> property) throws IOException {
        try (RawClient stream = RawClient.stream(console.uri(), query, BEARER)) {
            return RawClient.await(stream, Json.object(Map.of()), property);
        }
    }

    private ObjectNode seeRun(String id, Predicate<ObjectNode> property) throws IOException {
        return see("view=stored&service=shop&id=" + URLEncoder.encode(id, StandardCharsets.UTF_8), property);
    }

    private static Predicate<ObjectNode> is(String pointer, String text) {
        return state -> state.at(pointer).asString("").equals(text);
    }

    private Answer control(String action, String run, String node, Object value) throws IOException {
        return control("shop", action, run, node, value, BEARER);
    }

    private Answer control(String service, String action, String run, String node, Object value, String... headers)
            throws IOException {
        Map<String, Object> command =
                new HashMap<>(Map.of("action", action, "service", service, "ref", run, "key", node));
        command.put("value", value);
        String body = new JsonMapper().writeValueAsString(command);
        List<String> all = new ArrayList<>(List.of("Content-Type: application/json"));
        all.addAll(List.of(headers));
        return RawClient.post(console.uri(), "/api/control", body, all.toArray(String[]::new));
    }

    private StoredRun awaitState(String id, Predicate<StoredRun> property) {
        StoredRun run = worker.status(id).orElseThrow();
        while (!property.test(run)) {
            Thread.onSpinWait();
            run = worker.status(id).orElseThrow();
        }
        return run;
    }

    private void submitWaiting(String id) {
        worker.submit("order", id, "");
        awaitState(id, run -> Instant.MAX.equals(run.waitsUntil()));
    }

    private static List<String> order(ObjectNode state) {
        List<String> order = new ArrayList<>();
        state.at("/page/order").forEach(id -> order.add(id.asString()));
        return order;
    }

    @Test
    void runs_that_need_a_person_come_first_with_their_reasons() throws Exception {
        submitWaiting("o-1");
        worker.submit("booking", "b-1", "");
        worker.await("b-1");
        worker.cancel("o-1", "ordered twice");
        worker.await("o-1");
        submitWaiting("o-2");
        worker.submit("endless", "e-1", "");
        awaitState("e-1", run -> run.state() == RunState.RUNNING);

        ObjectNode state = see("view=durable", now -> order(now).size() == 4);

        assertThat(order(state)).containsExactly("b-1", "o-2", "e-1", "o-1");
        assertThat(state.at("/page/rows/b-1/state").asString()).isEqualTo("stuck");
        assertThat(state.at("/page/rows/b-1/why").asString()).contains("the compensation of node \"flight\" failed");
        assertThat(state.at("/page/rows/o-2/why").asString()).isEqualTo("waits for a signal");
        assertThat(state.at("/page/counts/waiting").asInt()).isEqualTo(1);
        assertThat(state.at("/page/isCut").asBoolean()).isFalse();
        assertThat(order(see("view=durable&state=stuck", now -> now.has("page"))))
                .containsExactly("b-1");
        assertThat(order(see("view=durable&flow=endless", now -> now.has("page"))))
                .containsExactly("e-1");
        assertThat(order(see("view=durable&filter=o-2", now -> now.has("page"))))
                .containsExactly("o-2");
        assertThat(order(see("view=durable&filter=o-2&state=stuck", now -> now.has("page"))))
                .isEmpty();
        see("view=groups", now -> now.at("/summary/durable/stuck").asInt(0) == 1);
    }

    @Test
    void schedules_have_their_next_moments_below_the_runs() throws Exception {
        Schedule nightly = Schedule.cron("0 3 * * *", ZoneId.of("Asia/Tokyo"));
        worker.schedule("nightly", worker.plan("order", "2").orElseThrow(), nightly, moment -> null);

        ObjectNode state = see("view=durable", now -> now.at("/page/schedules").has("nightly"));

        assertThat(state.at("/page/schedules/nightly/flow").asString()).isEqualTo("order");
        assertThat(state.at("/page/schedules/nightly/cron").asString()).isEqualTo("0 3 * * * Asia/Tokyo");
        assertThat(state.at("/page/schedules/nightly/nextAt").asLong() % 86_400_000)
                .isEqualTo(18 * 3_600_000);
        Predicate<ObjectNode> isPaused = now -> now.at("/page/schedules").has("nightly")
                && !now.at("/page/schedules/nightly").has("nextAt");
        assertThat(control("pauseSchedule", "nightly", "", null).body())
                .isEqualTo("{\"done\":\"schedule \\\"nightly\\\" is paused\"}");
        see("view=durable", isPaused);
        assertThat(control("resumeSchedule", "nightly", "", null).status()).isEqualTo(200);
        see("view=durable", isPaused.negate());
        assertThat(control("pauseSchedule", "weekly", "", null).status()).isEqualTo(404);
        ObjectNode audit = see("view=audit", now -> now.at("/rows").size() == 3);
        assertThat(audit.at("/rows/2/action").asString()).isEqualTo("pauseSchedule");
        assertThat(audit.at("/rows/2/target").asString()).contains("nightly");
    }

    @Test
    void a_list_is_read_page_by_page_across_states() throws Exception {
        database.execute("INSERT INTO raddle_run (id, flow, version, status, ended_at, created_at)"
                + " SELECT 'r-' || n, 'old', '1', CASE WHEN n % 2 = 0 THEN 'SUCCESS' ELSE 'FAILED' END, now(),"
                + " now() - n * interval '1 minute' FROM generate_series(1, 120) n");
        List<String> all = new ArrayList<>();
        String after = "";
        do {
            String query = "view=durable&after=" + URLEncoder.encode(after, StandardCharsets.UTF_8);
            ObjectNode state = see(query, now -> now.has("page"));
            assertThat(order(state)).hasSizeBetween(1, 50);
            all.addAll(order(state));
            after = state.at("/page/next").asString("");
        } while (!after.isEmpty());

        assertThat(all).hasSize(120).doesNotHaveDuplicates();
        assertThat(all.subList(0, 60))
                .startsWith("r-1", "r-3")
                .allMatch(id -> Integer.parseInt(id.substring(2)) % 2 == 1);
        assertThat(order(see("view=durable&after=failed%20removed", now -> now.has("page"))))
                .as("behind a run that was removed come the next states")
                .hasSize(50);
    }

    @Test
    void a_stuck_run_is_run_again_and_a_waiting_one_gets_its_signal() throws Exception {
        worker.submit("booking", "b-1", "");
        submitWaiting("o-1");
        ObjectNode stuck = seeRun("b-1", is("/row/state", "stuck"));
        assertThat(stuck.at("/nodes/flight/state").asString()).isEqualTo("succeeded");
        assertThat(stuck.at("/nodes/car/error").asString()).contains("no car");
        assertThat(stuck.at("/facts").toString()).contains("airline is closed", "it continues where it was");
        assertThat(stuck.at("/history").toString()).contains("compensates, then ends as FAILED");
        assertThat(stuck.at("/edges").toString()).isEqualTo("[[\"flight\",\"car\",\"must\"]]");

        database.airlineIsOpen.set(true);
        Answer again = control("rerun", "b-1", "", null);

        assertThat(again.body()).isEqualTo("{\"done\":\"the run will be run again by the next free worker\"}");
        ObjectNode undone = seeRun("b-1", is("/nodes/flight/state", "compensated"));
        assertThat(undone.at("/nodes/flight/endedAt").asLong()).isPositive();
        assertThat(worker.await("b-1").state()).isEqualTo(RunState.FAILED);

        ObjectNode waiting = seeRun("o-1", is("/nodes/approved/state", "waiting"));
        assertThat(waiting.at("/nodes/approved/signal").asBoolean()).isTrue();
        assertThat(control("signal", "o-1", "approved", "Grace").body())
                .isEqualTo("{\"done\":\"node \\\"approved\\\" has its signal\"}");
        worker.await("o-1");
        assertThat(worker.value("o-1")).isEqualTo("shipped for Grace");
        Answer twice = control("signal", "o-1", "approved", "Bob");
        assertThat(twice.status()).isEqualTo(409);
        assertThat(twice.problem()).contains("has ended, or the node has had its signal");

        assertThat(control("rerun", "o-1", "", null).problem()).contains("name the node");
        assertThat(control("rerun", "o-1", "ship", null).status()).isEqualTo(200);
        worker.await("o-1");
        ObjectNode audit = see("view=audit", now -> now.at("/rows").size() == 5);
        assertThat(audit.at("/rows/4/target").asString()).isEqualTo("shop /  b-1");
        assertThat(audit.at("/rows/2/done").asString()).startsWith("refused: node \"approved\"");
    }

    @Test
    void a_run_that_has_ended_between_the_page_and_the_click_or_was_removed_is_refused() throws Exception {
        worker.submit("endless", "e-1", "");
        seeRun("e-1", is("/row/state", "running"));
        database.end.countDown();
        worker.await("e-1");

        assertThat(control("cancelRun", "e-1", "", "too late").status()).isEqualTo(409);
        database.execute("DELETE FROM raddle_run WHERE id = 'e-1'");
        seeRun("e-1", is("/missing", "run"));
        assertThat(control("cancelRun", "e-1", "", "too late").status()).isEqualTo(404);
        assertThat(control("rerun", "e-1", "", null).status()).isEqualTo(404);
        assertThat(control("signal", "e-1", "wait", "x").status()).isEqualTo(404);
    }

    @Test
    void a_run_is_cancelled_with_its_reason() throws Exception {
        submitWaiting("o-1");

        assertThat(control("cancelRun", "o-1", "", "ordered twice").status()).isEqualTo(200);

        StoredRun run = worker.await("o-1");
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(String.valueOf(run.failure())).contains("ordered twice");
        assertThat(control("rerun", "o-1", "", null).status()).isEqualTo(200);
    }

    @Test
    void a_database_that_is_away_freezes_no_other_screen_and_is_shown_with_its_moment() throws Exception {
        submitWaiting("o-1");
        try (RawClient stream = RawClient.stream(console.uri(), "view=durable", BEARER)) {
            ObjectNode state = RawClient.await(
                    stream, Json.object(Map.of()), now -> order(now).contains("o-1"));
            database.goAway();
            state = RawClient.await(stream, state, now -> now.has("problem"));
            assertThat(state.at("/problem/sinceAt").asLong()).isPositive();
            assertThat(order(state)).as("what was read before").containsExactly("o-1");

            see("view=groups", now -> now.at("/summary/durable/down").asInt(0) == 1);
            Answer refused = control("signal", "o-1", "approved", "Grace");
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.problem()).contains("DatabaseException");
            see("view=audit", now -> now.at("/rows/0/done").asString("").startsWith("failed: "));

            database.comeBack();
            RawClient.await(stream, state, now -> !now.has("problem"));
        }
    }

    @Test
    void two_services_have_their_own_runs_and_a_closed_one_disappears() throws Exception {
        LocalDatabase other = new LocalDatabase();
        submitWaiting("o-1");
        try (FlowService second = other.worker().start()) {
            DurableConsole.watch(console, "mail", second);
            ObjectNode mail = see("view=durable&service=mail", now -> now.has("page"));
            assertThat(order(mail)).isEmpty();
            assertThat(mail.at("/services").toString()).isEqualTo("[\"mail\",\"shop\"]");
            assertThat(control("mail", "cancelRun", "o-1", "", "x", BEARER).status())
                    .isEqualTo(404);
        }
        ObjectNode left = see("view=durable&service=mail", is("/service", "shop"));
        assertThat(left.at("/services").toString()).isEqualTo("[\"shop\"]");
        assertThat(control("mail", "cancelRun", "o-1", "", "x", BEARER).problem())
                .isEqualTo("there is no such service");
        other.end.countDown();
    }

    @Test
    void a_service_without_the_flow_shows_the_run_and_refuses_a_signal_that_it_cannot_encode() throws Exception {
        submitWaiting("o-1");
        try (FlowService client = database.client().start()) {
            DurableConsole.watch(console, "ops", client);
            ObjectNode run = see("view=stored&service=ops&id=o-1", is("/row/state", "waiting"));
            assertThat(run.at("/registered").asBoolean()).isFalse();
            assertThat(run.at("/nodes/pay/state").asString()).isEqualTo("succeeded");
            assertThat(run.at("/nodes").has("approved")).isFalse();

            Answer answer = control("ops", "signal", "o-1", "approved", "Grace", BEARER);

            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.problem()).contains("is not registered in this program");
            assertThat(control("ops", "cancelRun", "o-1", "", null, BEARER).status())
                    .isEqualTo(200);
        }
    }

    @Test
    void hostile_ids_are_only_text() throws Exception {
        String hostile = "__proto__\n<img src=x onerror=alert(1)>\u202e";
        submitWaiting(hostile);
        assertThat(order(see("view=durable", now -> now.has("page")))).containsExactly(hostile);
        seeRun(hostile, is("/row/label", hostile));
        assertThat(control("signal", hostile, "app\u0000roved", "x").status()).isEqualTo(400);
        assertThat(control("signal", hostile, "no such node", "x").status()).isEqualTo(400);
        assertThat(control("rerun", "\u0000", "", null).status()).isEqualTo(404);
        assertThat(control("rerun", "x".repeat(201), "", null).status()).isEqualTo(404);
        assertThat(control("drop", hostile, "", null).status()).isEqualTo(400);
        seeRun("\u0000", is("/missing", "run"));
        seeRun("", is("/missing", "run"));
        assertThat(order(see("view=durable&flow=%00", now -> now.has("page")))).isEmpty();
        assertThat(order(see("view=durable&filter=%00", now -> now.has("page"))))
                .isEmpty();
        assertThat(order(see("view=durable&after=waiting%20%00", now -> now.has("page"))))
                .isEmpty();
        assertThat(order(see("view=durable&after=nonsense%20x&state=nonsense", now -> now.has("page"))))
                .isEmpty();
    }

    @Test
    void nothing_is_shown_or_done_without_the_token() throws Exception {
        submitWaiting("o-1");

        assertThat(control("shop", "cancelRun", "o-1", "", "x").status()).isEqualTo(401);
        assertThat(RawClient.get(console.uri(), "/api/stream?view=durable").status())
                .isEqualTo(401);
        try (Console looking =
                Console.start(ConsoleOptions.defaults().withPort(0).withToken(TOKEN))) {
            DurableConsole.watch(looking, "shop", worker);
            String body = "{\"action\":\"cancelRun\",\"service\":\"shop\",\"ref\":\"o-1\"}";
            Answer answer =
                    RawClient.post(looking.uri(), "/api/control", body, "Content-Type: application/json", BEARER);
            assertThat(answer.status()).isEqualTo(403);
        }
        assertThat(worker.status("o-1").orElseThrow().state()).isEqualTo(RunState.WAITING);
    }
}
