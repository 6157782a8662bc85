package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.optional;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Scheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Plans and runs in the formats of Mermaid, Graphviz, JSON and Chrome traces. */
@Timeout(60)
class FlowDrawingTest {

    private static final String ODD = "a \"b\" \\ <c> & \t\nd é ✓";

    private final FlowBuilder<Void> f = FlowPlan.define("drawn \"so\"");
    private final VirtualTime time = new VirtualTime();
    private final RunOptions options =
            RunOptions.defaults().withTimeSource(time).inCallersThread();

    @BeforeEach
    void declare() {
        Node<String> a = f.node("a", () -> {
            time.advance(Duration.ofNanos(1_234_567));
            return "A";
        });
        Node<String> odd = f.node(ODD, a, x -> {
            throw new IllegalStateException("broken \"badly\"\n");
        });
        Node<String> b = f.node("b", optional(odd), order(a), (x, y) -> "B").essential();
        Node<String> c = f.node("c", after(odd), anyOf(b), (x, y) -> "C").group("g");
        f.node("d", atLeast(1, c), x -> x);
    }

    private FlowResult<Void> result() throws InterruptedException {
        return f.build().run(null, options.withGroups(key -> Scheduler.virtualThreads()));
    }

    @Test
    void a_plan_describes_its_nodes_in_the_order_of_declaration() {
        FlowPlan<Void, Void> plan = f.build();
        assertThat(plan.name()).isEqualTo("drawn \"so\"");
        assertThat(plan.nodes())
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("digest")
                .containsExactly(
                        new PlanNode("a", List.of(), false, false, null, ""),
                        new PlanNode(ODD, List.of(new PlanEdge("a", ODD, "must")), false, false, null, ""),
                        new PlanNode(
                                "b",
                                List.of(new PlanEdge(ODD, "b", "optional"), new PlanEdge("a", "b", "order")),
                                true,
                                false,
                                null,
                                ""),
                        new PlanNode(
                                "c",
                                List.of(new PlanEdge(ODD, "c", "after"), new PlanEdge("b", "c", "any")),
                                false,
                                false,
                                "g",
                                ""),
                        new PlanNode("d", List.of(new PlanEdge("c", "d", "atLeast 1")), false, false, null, ""));
    }

    @Test
    void mermaid_has_a_line_for_each_node_and_edge_and_no_raw_quotes() throws Exception {
        assertThat(f.build().toMermaid().lines().toList())
                .startsWith("flowchart LR", "    n0[\"a\"]")
                .contains(
                        "    n0 --> n1",
                        "    n1 -. optional .-> n2",
                        "    n0 -. order .-> n2",
                        "    n1 -. after .-> n3")
                .endsWith("    n2 -. any .-> n3", "    n3 -. atLeast 1 .-> n4");
        String run = result().toMermaid();
        assertThat(run)
                .contains("n0[\"a<br/>SUCCESS\"]")
                .contains("<br/>FAILED\"]")
                .contains("&quot;b&quot;");
        assertThat(run.chars().filter(each -> each == '"')).hasSize(10);
    }

    @Test
    void dot_has_a_statement_for_each_node_and_edge() throws Exception {
        String plan = f.build().toDot();
        assertThat(plan)
                .startsWith("digraph \"drawn \\\"so\\\"\" {")
                .endsWith("}\n")
                .contains("    \"a\";\n")
                .contains("\"b\" -> \"c\" [style=dashed, label=\"any\"];");
        assertThat(result().toDot()).contains("\"a\" [label=\"a\\nSUCCESS\"];");
    }

    @Test
    void json_is_valid_and_complete() throws Exception {
        Object parsed = new Json(result().toJson()).whole();
        Map<?, ?> run = (Map<?, ?>) parsed;
        assertThat(run.get("flow")).isEqualTo("drawn \"so\"");
        assertThat(run.get("status")).isEqualTo("DEGRADED");
        assertThat(run.get("elapsedNanos")).isEqualTo(1_234_567.0);
        List<?> nodes = (List<?>) run.get("nodes");
        assertThat(nodes).hasSize(5);
        Map<?, ?> odd = (Map<?, ?>) nodes.get(1);
        assertThat(odd.get("id")).isEqualTo(ODD);
        assertThat(odd.get("state")).isEqualTo("FAILED");
        assertThat(odd.get("via")).isEqualTo("NONE");
        assertThat(odd.get("cause")).isEqualTo("java.lang.IllegalStateException: broken \"badly\"\n");
        assertThat(odd.get("needs")).isEqualTo(List.of(Map.of("id", "a", "kind", "must")));
        assertThat(((Map<?, ?>) nodes.get(0)).get("endNanos")).isEqualTo(1_234_567.0);
    }

    @Test
    void a_chrome_trace_is_valid_and_has_an_event_for_each_node_that_ran() throws Exception {
        FlowResult<Void> result = result();
        Map<?, ?> trace = (Map<?, ?>) new Json(result.toChromeTrace()).whole();
        List<?> events = (List<?>) trace.get("traceEvents");
        assertThat(events).hasSize((int)
                result.nodes().stream().filter(node -> node.startNanos() >= 0).count());
        Map<?, ?> first = (Map<?, ?>) events.getFirst();
        assertThat(first.get("name")).isEqualTo("a");
        assertThat(first.get("ph")).isEqualTo("X");
        assertThat((Double) first.get("ts")).isLessThan(0.01);
        assertThat((Double) first.get("dur")).isBetween(1234.56, 1234.57);
    }

    @Test
    void nodes_that_ran_at_the_same_time_are_in_different_rows() throws Exception {
        FlowBuilder<Void> g = FlowPlan.define("rows");
        CyclicBarrier both = new CyclicBarrier(2);
        g.node("x", () -> both.await());
        g.node("y", () -> both.await());
        Map<?, ?> trace = (Map<?, ?>) new Json(g.build().run(null).toChromeTrace()).whole();
        List<Object> rows = new ArrayList<>();
        for (Object event : (List<?>) trace.get("traceEvents")) {
            rows.add(((Map<?, ?>) event).get("tid"));
        }
        assertThat(rows).containsExactlyInAnyOrder(1.0, 2.0);
    }

    @Test
    void an_empty_run_can_be_drawn() throws Exception {
        FlowBuilder<Void> g = FlowPlan.define("empty");
        FlowResult<Void> result = g.build().run(null);
        assertThat(new Json(result.toJson()).whole()).isInstanceOf(Map.class);
        assertThat(new Json(result.toChromeTrace()).whole()).isEqualTo(Map.of("traceEvents", List.of()));
        assertThat(result.toMermaid()).isEqualTo("flowchart LR\n");
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
    }

    /** A minimal JSON parser. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        Object whole() {
            Object value = value();
            blank();
            assertThat(at).as("length").isEqualTo(text.length());
            return value;
        }

        private void blank() {
            while (at < text.length() && " \n\r\t".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
        }

        private char next() {
            blank();
            return text.charAt(at);
        }

        private void expect(char wanted) {
            assertThat(next()).as("at " + at).isEqualTo(wanted);
            at++;
        }

        private Object value() {
            return switch (next()) {
                case '{' -> object();
                case '[' -> array();
                case '"' -> string();
                default -> number();
            };
        }

        private Map<String, Object> object() {
            Map<String, Object> map = new LinkedHashMap<>();
            expect('{');
            while (next() != '}') {
                if (!map.isEmpty()) {
                    expect(',');
                    blank();
                }
                String key = string();
                expect(':');
                assertThat(map.put(key, value())).as("twice " + key).isNull();
            }
            at++;
            return map;
        }

        private List<Object> array() {
            List<Object> list = new ArrayList<>();
            expect('[');
            while (next() != ']') {
                if (!list.isEmpty()) {
                    expect(',');
                }
                list.add(value());
            }
            at++;
            return list;
        }

        private String string() {
            expect('"');
            StringBuilder string = new StringBuilder();
            for (char each; (each = text.charAt(at++)) != '"'; ) {
                assertThat(each).as("raw control character").isGreaterThanOrEqualTo(' ');
                string.append(each == '\\' ? escaped() : each);
            }
            return string.toString();
        }

        private char escaped() {
            char each = text.charAt(at++);
            return switch (each) {
                case 'n' -> '\n';
                case 't' -> '\t';
                case 'u' -> (char) Integer.parseInt(text.substring(at, at += 4), 16);
                default -> {
                    assertThat("\"\\/".indexOf(each)).as("escape " + each).isNotNegative();
                    yield each;
                }
            };
        }

        private Double number() {
            int from = at;
            while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return Double.valueOf(text.substring(from, at));
        }
    }
}
