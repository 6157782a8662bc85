package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import dev.raddle.task.RetryPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs of an older version of the schema, which this version continues. */
@Timeout(120)
class UpgradeTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    /** Stores strings, and lists of strings without commas. */
    private static final FlowCodec CODEC = new FlowCodec() {
        @Override
        public byte[] encode(Object value) {
            String text = value instanceof List<?> list
                    ? "L" + list.stream().map(String::valueOf).collect(Collectors.joining(","))
                    : "S" + value;
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public Object decode(byte[] bytes) {
            String text = new String(bytes, StandardCharsets.UTF_8);
            return text.startsWith("L") ? List.of(text.substring(1).split(",")) : text.substring(1);
        }
    };

    private final ConcurrentLinkedQueue<String> called = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void createOldTables() throws Exception {
        database.execute(text("/META-INF/raddle/jdbc/V1__runs_of_flows.sql"));
        database.execute(text("/META-INF/raddle/jdbc/V2__waiting_runs.sql"));
        database.execute(text("/dev/raddle/jdbc/runs_of_schema_2.sql"));
    }

    private static String text(String resource) throws IOException {
        try (InputStream stream = UpgradeTest.class.getResourceAsStream(resource)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String called(String node, String value) {
        called.add(node);
        return value;
    }

    private FlowPlan<String, String> waits() {
        FlowBuilder<String> f = FlowPlan.define("waits", String.class);
        Node<String> asked = f.node("asked", c -> called("asked", "offer to " + c.param()));
        Node<Void> pause = f.sleep("pause", Duration.ofSeconds(3)).needs(order(asked));
        Node<String> approved =
                f.signal("approved", String.class).needs(order(pause)).timeout(Duration.ofDays(36_000));
        return f.returning(f.node("end", asked, approved, (offer, who) -> offer + " approved by " + who));
    }

    private FlowPlan<String, String> works() {
        FlowBuilder<String> f = FlowPlan.define("works", String.class);
        Node<String> first = f.node("first", c -> called("first", "first of " + c.param()));
        Node<String> retried = f.<String, String>node("retried", first, (c, x) -> {
                    throw new IllegalStateException(called("retried", "no luck"));
                })
                .retry(RetryPolicy.fixedDelay(2, Duration.ofHours(1)))
                .fallbackValue("fallback");
        Node<List<String>> list = f.map(
                "list",
                f.node("items", () -> List.of("a", "b", "c")),
                each -> called("list " + each, each.toUpperCase(Locale.ROOT)));
        return f.returning(f.node("end", retried, list, (x, y) -> x + " " + y));
    }

    private FlowPlan<String, String> undoes() {
        FlowBuilder<String> f = FlowPlan.define("undoes", String.class);
        Node<String> reserve =
                f.node("reserve", c -> called("reserve", "room")).compensate(room -> called("undo reserve", room));
        Node<String> pay =
                f.node("pay", reserve, room -> called("pay", "paid")).compensate(paid -> called("undo pay", paid));
        Node<String> handled = f.node("handled", pay, x -> called("handled", x)).fallbackValue("fallback");
        return f.returning(f.node("ship", handled, x -> called("ship", x)));
    }

    @Test
    void runs_of_an_older_schema_go_on_where_they_were() throws Exception {
        FlowService.Builder builder = database.service()
                .register(waits(), "1", CODEC)
                .register(works(), "1", CODEC)
                .register(undoes(), "1", CODEC);
        try (FlowService service = builder.start()) {
            assertThat(service.value("ended")).isEqualTo("offer to Eve approved by Ed");
            assertThat(service.signal("asleep", "approved", "Amy")).isTrue();
            assertThat(service.signal("signalled", "approved", "Amy")).isFalse();
            assertThat(service.signal("new", "approved", "Flo")).isTrue();

            assertThat(valueOf(service, "asleep")).isEqualTo("offer to Ann approved by Amy");
            assertThat(valueOf(service, "signalled")).isEqualTo("offer to Bob approved by Bea");
            assertThat(valueOf(service, "new")).isEqualTo("offer to Fay approved by Flo");
            assertThat(valueOf(service, "working")).isEqualTo("fallback [a!, b!, C]");
            StoredRun undoing = service.await("undoing", Await.BOUND);
            assertThat(undoing.state()).isEqualTo(RunState.FAILED);
            assertThat(undoing.failure().message()).isEqualTo("no ship");
            assertThat(undoing.problem()).isNull();
            assertThat(called).containsExactlyInAnyOrder("asked", "retried", "list c", "undo reserve");

            assertThat(service.rerun("ended", "approved")).isTrue();
            Await.until("the run has begun again", () -> service.signal("ended", "approved", "Eli"));
            assertThat(valueOf(service, "ended")).isEqualTo("offer to Eve approved by Eli");
        }
    }

    private static String valueOf(FlowService service, String run) throws Exception {
        StoredRun ended = service.await(run, Await.BOUND);
        assertThat(ended.state()).as(ended.toString()).isIn(RunState.SUCCESS, RunState.DEGRADED);
        return (String) service.value(run);
    }
}
