package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The cause of each incident is read from what the page receives. */
@Timeout(20)
class IncidentTest {

    private final VirtualTime time = new VirtualTime();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    HANG      | hang      | "payments" of orders: 33 tasks wait | charge-1" has held its slot
                    HANG      | hang      | 4 tasks are in Incident | payments
                    LIMIT     | limit     | "mails" of orders was changed from 8 to 1 by the program | tasks wait
                    RATE      | rate      | "search" of orders may start 1 per 20 s: | next one starts in
                    BREAKER   | breaker   | its breaker is open, 100 % of 4 tasks failed | It was changed from closed to
                    CAP       | cap       | 16 groups like "req-…" hold 16 slots | 25 groups wait for it, "acme" for
                    CAP       | cap       | held its slot for [time]; nothing has started | "import" of "req-40
                    WEIGHTS   | weights   | "bulk" holds 9 slots (90 %), with the weight 100 | " is 1.
                    PRIORITY  | priority  | "nightly" waits with the priority -5 | 12 tasks of higher priority
                    PRIORITY  | priority  | "running" has held its slot for [time] | 12 tasks of higher priority
                    COST      | cost      | "yearly" needs 4 slots, and 3 are free | "slow-audit" holds 1 slot
                    LOCK      | lock      | of 3 groups wait for a lock in Incident$Ledger.post | "audit" is inside
                    POOL      | pool      | 2 tasks are stuck | They wait for tasks that are queued here, 2 in the same
                    POOL      | pool      | Incident | 2 more are queued
                    FLEET     | fleet     | "shop-2" of fleet "orders" was not heard | 3 permits, which come back in
                    SELF_WAIT | self-wait | waits for itself: "print-all" runs | "print-page", which is in the same
                    SELF_WAIT | self-wait | waits for itself: "print-all" runs | "other" holds 1 slot, for [time].
                    SLOWER    | slower    | ten minutes ago they took 20 ms. | "quotes" of orders
                    """)
    void the_cause_is_said(Incident incident, String kind, String part, String other) throws Exception {
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                Incident.Stage stage = new Incident.Stage(console, time, time::advance)) {
            incident.stage(stage);
            time.advance(Duration.ofSeconds(40));

            ObjectNode state = see(console, "view=wrong", kind);

            assertThat(text(find(state, kind))).contains(part).contains(other);
        }
    }

    @Test
    void scopes_that_leak_are_counted_by_name_with_the_place_where_they_were_opened() throws Exception {
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                Incident.Stage stage = new Incident.Stage(console, time, time::advance)) {
            Incident.SCOPES.stage(stage);
            try (RawClient stream = RawClient.stream(console.uri(), "view=scopes")) {
                ObjectNode state = RawClient.await(stream, Json.object(Map.of()), found -> found.has("byName"));
                JsonNode name = state.path("byName").path(0);
                assertThat(name.path("name").asString()).isEqualTo("request");
                assertThat(name.path("count").asInt()).isEqualTo(8);
                assertThat(name.path("place").asString()).contains("Incident.java");
            }
        }
    }

    @Test
    void a_run_that_waits_says_the_one_reason_that_holds_it() throws Exception {
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                Incident.Stage stage = new Incident.Stage(console, time, time::advance)) {
            Incident.SIGNAL.stage(stage);
            try (RawClient stream = RawClient.stream(console.uri(), "view=flows")) {
                RawClient.await(
                        stream,
                        Json.object(Map.of()),
                        state -> state.at("/rows/r1/why").asString("").equals("node \"approve\" waits for its signal"));
            }
            RunView run = console.flows.runs().get("r1");
            assertThat(text(Json.object(RunFindings.of(run, null, Long.MAX_VALUE))))
                    .contains("node \"approve\" waits for its signal, for [time]")
                    .endsWith("1 node waits for it or others.");
            assertThat(RunFindings.of(run, null, run.startedAt().toEpochMilli() - 1))
                    .isNull();
        }
    }

    @Test
    void nothing_is_wrong_while_nothing_waits_for_long() throws Exception {
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                Incident.Stage stage = new Incident.Stage(console, time, time::advance)) {
            Incident.HANG.stage(stage);
            time.advance(Duration.ofMillis(1_500));
            try (RawClient stream = RawClient.stream(console.uri(), "view=wrong")) {
                ObjectNode state = RawClient.await(
                        stream,
                        Json.object(Map.of()),
                        found -> found.at("/summary/groups/waiting").asInt(0) == 33);
                assertThat(state.path("findings").isEmpty()).isTrue();
                assertThat(state.path("more").asInt()).isZero();
                assertThat(state.path("watched").asInt()).isEqualTo(1);
                assertThat(state.at("/summary/wrong/count").asInt()).isZero();
            }
        }
    }

    private static ObjectNode see(Console console, String query, String kind) throws Exception {
        try (RawClient stream = RawClient.stream(console.uri(), query)) {
            return RawClient.await(stream, Json.object(Map.of()), state -> find(state, kind) != null);
        }
    }

    private static JsonNode find(ObjectNode state, String kind) {
        for (JsonNode finding : state.path("findings")) {
            if (finding.path("kind").asString("").equals(kind)) {
                return finding;
            }
        }
        return null;
    }

    /** Returns the sentence as the page shows it, with names in quotes. */
    static String text(JsonNode finding) {
        StringBuilder text = new StringBuilder();
        for (JsonNode part : finding.path("sentence")) {
            if (part.isString()) {
                text.append(part.asString());
            } else if (part.has("name")) {
                text.append('"').append(part.path("name").asString()).append('"');
            } else if (part.has("millis")) {
                text.append(part.path("millis").asLong()).append(" ms");
            } else {
                text.append("[time]");
            }
        }
        return text.toString();
    }
}
