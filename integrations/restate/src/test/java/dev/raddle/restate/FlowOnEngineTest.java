package dev.raddle.restate;

import static dev.raddle.flow.Dependency.after;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowJournal;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.processes.Await;
import dev.raddle.processes.RestateServer.Answer;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

@RestateTest
class FlowOnEngineTest {
    /** Within this time a node that waits has begun, also on a busy machine. */
    private static final Duration LONG_ENOUGH_TO_BEGIN = Duration.ofSeconds(2);

    private String service = "";
    private final Queue<String> calls = new ConcurrentLinkedQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    /** A service of its own for each test. */
    @BeforeEach
    void nameService(TestInfo test) {
        service = test.getTestMethod().orElseThrow().getName();
    }

    private String noted(String call) {
        calls.add(call);
        return call;
    }

    private Answer run(Engine engine, FlowPlan<?, ?> plan, RestateOptions options) {
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC, options))) {
            engine.register(worker.port());
            return engine.run(service, "k", TestCodec.bytes("p"));
        }
    }

    private Answer run(Engine engine, FlowPlan<?, ?> plan) {
        return run(engine, plan, RestateOptions.defaults());
    }

    @Test
    void a_flow_returns_its_value(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("diamond", String.class);
        Node<String> a = f.node("a", context -> context.param() + "a");
        Node<String> b = f.node("b", a, value -> value + "b");
        Node<String> c = f.node("c", a, value -> value + "c");

        Answer answer = run(engine, f.returning(f.node("d", b, c, (left, right) -> left + right)));

        assertThat(TestCodec.value(answer.value())).isEqualTo("pabpac");
    }

    @Test
    void independent_nodes_run_at_the_same_time(Engine engine) {
        CountDownLatch both = new CountDownLatch(2);
        FlowBuilder<String> f = FlowPlan.define("parallel", String.class);
        Node<String> a = f.node("a", () -> meet(both));
        Node<String> b = f.node("b", () -> meet(both));

        Answer answer = run(engine, f.returning(f.node("c", a, b, (left, right) -> left + right)));

        assertThat(TestCodec.value(answer.value())).isEqualTo("metmet");
    }

    private static String meet(CountDownLatch latch) throws InterruptedException {
        latch.countDown();
        latch.await();
        return "met";
    }

    @Test
    void the_same_key_runs_once(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("once", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("a", () -> noted("a")));
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC))) {
            engine.register(worker.port());
            engine.run(service, "k", new byte[0]).value();

            engine.submit(service, "k", new byte[0]);

            assertThat(TestCodec.value(engine.attach(service, "k").value())).isEqualTo("a");
            assertThat(engine.run(service, "k", new byte[0]).status()).isEqualTo(409);
            assertThat(calls).containsExactly("a");
        }
    }

    @Test
    void null_is_an_empty_body(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("nothing", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("a", context -> context.param()));
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC))) {
            engine.register(worker.port());
            assertThat(engine.run(service, "k", new byte[0]).value()).isEmpty();
        }
    }

    @Test
    void a_parameter_that_cannot_be_read_is_a_bad_request(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("strict", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("a", () -> noted("a")));
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC))) {
            engine.register(worker.port());
            Answer answer = engine.run(service, "k", new byte[] {'?'});

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text()).contains("the parameter of flow").contains("neither a string nor a list");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void a_failed_flow_is_undone_in_reverse_order_and_explained(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> reserve = f.node("reserve", () -> noted("reserve")).compensate(v -> noted("undo " + v));
        Node<String> pay = f.node("pay", reserve, v -> noted("pay")).compensate(v -> noted("undo " + v));
        Node<String> ship = f.node("ship", pay, v -> {
            throw new IOException("no lorry");
        });

        Answer answer = run(engine, f.returning(ship));

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.text())
                .contains("flow \\\"order\\\" is FAILED; node \\\"ship\\\"")
                .contains("no lorry");
        assertThat(calls).containsExactly("reserve", "pay", "undo pay", "undo reserve");
    }

    @Test
    void a_run_that_succeeds_without_a_value_ends_and_says_so(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("skipped", String.class);
        Node<String> offer = f.node("offer", () -> noted("offer")).when(context -> false);

        Answer answer = run(engine, f.returning(offer));

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.text())
                .contains("flow \\\"skipped\\\" has no value, it is SUCCESS")
                .contains("its condition was false");
        assertThat(calls).isEmpty();
    }

    @Test
    void an_error_is_a_failure_like_any_other(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("error", String.class);
        Node<String> broken = f.node("broken", () -> {
            throw new StackOverflowError("deep");
        });
        Node<String> end = f.node("end", after(broken), outcome -> outcome instanceof Outcome.Success ? "good" : "bad");

        assertThat(TestCodec.value(run(engine, f.returning(end)).value())).isEqualTo("bad");
    }

    @Test
    void attempts_and_their_delays_are_those_of_the_plan(Engine engine) {
        AtomicInteger attempts = new AtomicInteger();
        FlowBuilder<String> f = FlowPlan.define("retried", String.class);
        Node<String> node = f.<String>node("a", () -> {
                    if (attempts.incrementAndGet() < 3) {
                        throw new IOException("attempt " + attempts);
                    }
                    return "third";
                })
                .retry(RetryPolicy.attempts(3));

        assertThat(TestCodec.value(run(engine, f.returning(node)).value())).isEqualTo("third");
        assertThat(attempts).hasValue(3);
        assertThat(engine.journal(service, "k").toString())
                .contains("a, attempt 2")
                .contains("a, attempt 3");
    }

    @Test
    void a_node_that_times_out_is_interrupted_and_its_default_is_used(Engine engine) throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("slow", String.class);
        Node<String> slow = f.node("slow", () -> untilInterrupted(interrupted))
                .timeout(LONG_ENOUGH_TO_BEGIN)
                .defaultValue("default");
        Node<String> end = f.node(
                "end", after(slow), outcome -> "after " + outcome.getClass().getSimpleName());

        Answer answer = run(engine, f.returning(List.of(slow, end)), RestateOptions.defaults());

        assertThat(answer.status()).isEqualTo(500); // a map is none of the codec's values
        assertThat(answer.text()).contains("cannot be encoded");
        interrupted.await();
    }

    private static String untilInterrupted(CountDownLatch interrupted) {
        try {
            new CountDownLatch(1).await();
            return "never";
        } catch (InterruptedException e) {
            interrupted.countDown();
            return "late";
        }
    }

    @Test
    void a_run_that_misses_its_deadline_is_undone(Engine engine) throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("late", String.class);
        Node<String> first = f.node("first", () -> noted("first")).compensate(v -> noted("undo " + v));
        Node<String> slow = f.node("slow", first, v -> untilInterrupted(interrupted));

        Answer answer = run(
                engine, f.returning(slow), RestateOptions.defaults().withRun(RunOptions.timeout(LONG_ENOUGH_TO_BEGIN)));

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.text()).contains("flow \\\"late\\\" is TIMED_OUT");
        assertThat(calls).containsExactly("first", "undo first");
        interrupted.await();
    }

    @Test
    void cancelling_the_invocation_interrupts_the_nodes_and_undoes_the_run(Engine engine) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        FlowBuilder<String> f = FlowPlan.define("unwanted", String.class);
        Node<String> first = f.node("first", () -> noted("first")).compensate(v -> noted("undo " + v));
        Node<String> slow = f.node("slow", first, v -> {
            begun.countDown();
            return untilInterrupted(interrupted);
        });
        try (Worker worker = Worker.serve(RestateFlows.service(service, f.returning(slow), TestCodec.CODEC))) {
            engine.register(worker.port());
            engine.submit(service, "k", new byte[0]);
            begun.await();

            engine.cancel(service, "k");

            Answer answer = engine.attach(service, "k");
            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.text()).contains("flow \\\"unwanted\\\" is CANCELLED");
            assertThat(calls).containsExactly("first", "undo first");
            interrupted.await();
        }
    }

    @Test
    void a_sleep_ends_by_a_timer_of_the_engine(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("patient", String.class);
        Node<String> first = f.node("first", () -> noted("first"));
        Node<Void> pause = f.sleep("pause", Duration.ofMillis(200)).needs(first);
        Node<String> end = f.node("end", first, pause, (value, unused) -> value + ", end");

        assertThat(TestCodec.value(run(engine, f.returning(end)).value())).isEqualTo("first, end");
        assertThat(engine.journal(service, "k").toString()).contains("until +");
    }

    @Test
    void a_signal_is_delivered_once_before_or_after_its_node_is_reached(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("asking", String.class);
        Node<String> early = f.signal("early", String.class);
        Node<String> late = f.signal("late", String.class).needs(early);
        FlowPlan<String, String> plan = f.returning(f.node("end", early, late, (a, b) -> a + " and " + b));
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC))) {
            engine.register(worker.port());
            CompletableFuture<Answer> end;

            assertThat(signal(engine, "late", "yes").status()).isEqualTo(200);
            engine.submit(service, "k", new byte[0]);
            end = engine.attachLater(service, "k");
            assertThat(signal(engine, "early", "well").status()).isEqualTo(200);
            assertThat(signal(engine, "early", "ill").status()).isEqualTo(409);

            assertThat(TestCodec.value(end.join().value())).isEqualTo("well and yes");
            assertThat(signal(engine, "nobody", "x").status()).isEqualTo(400);
        }
    }

    private Answer signal(Engine engine, String node, Object value) {
        return engine.call(service, "k", "signal", TestCodec.bytes(value), Map.of(RestateFlows.NODE_HEADER, node));
    }

    @Test
    void a_group_limits_the_nodes_of_all_runs(Engine engine) {
        int limit = 2;
        int runs = 6;
        FlowBuilder<String> f = FlowPlan.define("limited", String.class);
        Node<String> a = f.node("a", context -> {
                    gate.await();
                    return context.param();
                })
                .group("partner");
        GroupPolicy policy =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(limit).build();
        RestateOptions options;
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(policy)) {
            options = RestateOptions.defaults().withGroups(groups);
            try (Worker worker =
                    Worker.serve(RestateFlows.service(service, f.returning(a), TestCodec.CODEC, options))) {
                engine.register(worker.port());
                IntStream.range(0, runs).forEach(i -> engine.submit(service, "k" + i, TestCodec.bytes("v" + i)));
                Await.until("two nodes run, and the others wait", () -> {
                    GroupExecutorStats now = groups.stats(); // the first nodes wait until their group's limit is known
                    return now.totalActiveCount() == limit && now.totalQueuedCount() == runs - limit;
                });

                gate.countDown();

                for (int i = 0; i < runs; i++) {
                    assertThat(TestCodec.value(engine.attach(service, "k" + i).value()))
                            .isEqualTo("v" + i);
                }
            }
        }
    }

    @Test
    void cancelling_the_invocation_takes_a_waiting_node_out_of_its_group(Engine engine) throws Exception {
        FlowBuilder<String> f = FlowPlan.define("queued", String.class);
        Node<String> a = f.node("a", () -> noted("a")).group("partner");
        GroupPolicy policy =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build();
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(policy);
                Worker worker = Worker.serve(RestateFlows.service(
                        service,
                        f.returning(a),
                        TestCodec.CODEC,
                        RestateOptions.defaults().withGroups(groups)))) {
            TaskHandle<String> holder = groups.submit("partner", () -> {
                gate.await();
                return "held";
            });
            engine.register(worker.port());
            engine.submit(service, "k", new byte[0]);
            Await.until("the node waits", () -> groups.stats().totalQueuedCount() == 1);

            engine.cancel(service, "k");

            assertThat(engine.attach(service, "k").status()).isEqualTo(409);
            Await.until("the node has left", () -> groups.stats().totalQueuedCount() == 0);
            gate.countDown();
            holder.await();
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void a_node_with_a_group_fails_if_the_service_has_none(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("groupless", String.class);
        Node<String> a = f.node("a", () -> noted("a")).group("partner");

        assertThat(run(engine, f.returning(a)).text()).contains("set them with RestateOptions.withGroups");
        assertThat(calls).isEmpty();
    }

    @Test
    void a_value_that_cannot_be_stored_fails_its_node(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("unstorable", String.class);
        Node<Integer> number = f.node("number", () -> 42).compensate(v -> noted("undo"));

        Answer answer = run(engine, f.returning(number));

        assertThat(answer.text())
                .contains("the value of node \\\"number\\\" cannot be stored")
                .contains("a java.lang.Integer is neither a string nor a list");
    }

    @Test
    void an_error_of_the_codec_fails_the_node_whether_it_encodes_or_decodes(Engine engine) {
        FlowCodec broken = FlowCodec.of(
                text -> text.equals("in") ? text.getBytes(UTF_8) : fail("in"), bytes -> fail("out"), String.class);
        FlowBuilder<String> f = FlowPlan.define("broken", String.class);
        Node<String> in = f.node("in", () -> "never encoded");
        Node<String> out = f.node("out", () -> "in");
        Node<String> end = f.node("end", after(in), after(out), (a, b) -> noted(a + " " + b));
        Worker worker = Worker.serve(RestateFlows.service(service, f.returning(end), broken));
        try (worker) {
            engine.register(worker.port());
            Answer answer = engine.run(service, "k", new byte[0]);

            assertThat(answer.status()).isEqualTo(500);
            assertThat(calls).hasSize(1);
            assertThat(calls.peek())
                    .contains("the value of node \"in\" cannot be stored: java.lang.AssertionError: in")
                    .contains("the value of node \"out\" cannot be stored: java.lang.AssertionError: out");
        }
    }

    private static <T> T fail(String what) {
        throw new AssertionError(what);
    }

    @Test
    void a_signal_of_another_class_is_refused_and_keeps_out_no_other(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("picky", String.class);
        var names = f.signal("names", List.class);
        FlowPlan<String, String> plan = f.returning(f.node("end", names, value -> value.size() + " names"));
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC))) {
            engine.register(worker.port());
            engine.submit(service, "k", new byte[0]);

            Answer refusal = signal(engine, "names", "Ada");
            assertThat(refusal.status()).isEqualTo(400);
            assertThat(refusal.text()).contains("takes a java.util.List");
            assertThat(signal(engine, "end", "Ada").text()).contains("does not wait for a signal");
            assertThat(signal(engine, "names", List.of("Ada", "Ann")).status()).isEqualTo(200);

            assertThat(TestCodec.value(engine.attach(service, "k").value())).isEqualTo("2 names");
        }
    }

    @Test
    void many_nodes_at_once_end(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("wide", String.class);
        List<String> items = IntStream.range(0, 200).mapToObj(i -> "i" + i).toList();
        Node<List<String>> map = f.map("map", f.node("list", () -> items), item -> item + "!");

        Object value = TestCodec.value(run(engine, f.returning(map)).value());

        assertThat(value).isEqualTo(items.stream().map(item -> item + "!").toList());
    }

    @Test
    void options_that_do_not_fit_are_refused_at_once() {
        FlowBuilder<String> f = FlowPlan.define("unfit", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("a", () -> noted("a")));
        RestateOptions options =
                RestateOptions.defaults().withRun(RunOptions.defaults().withJournal(FlowJournal.inMemory()));

        assertThatThrownBy(() -> RestateFlows.service("unfit", plan, TestCodec.CODEC, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no journal");
    }

    @Test
    void a_value_of_50_MB_fails_its_node_with_advice(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("large", String.class);
        Node<String> large = f.node("large", () -> "x".repeat(50_000_000));

        Answer answer = run(engine, f.returning(large));

        assertThat(answer.status()).isEqualTo(500);
        assertThat(answer.text()).contains("at most 1048576 are stored").contains("withMaxValueBytes");
    }

    @Test
    void a_run_continues_only_with_the_plan_that_it_began_with(Engine engine) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        int port;
        try (Worker worker = Worker.serve(RestateFlows.service(service, changing("b", begun), TestCodec.CODEC))) {
            port = worker.port();
            engine.register(port);
            engine.submit(service, "k", new byte[0]);
            begun.await();
        }
        try (Worker changed =
                Worker.serve(RestateFlows.service(service, changing("c", begun), TestCodec.CODEC), port)) {
            assertThat(changed.port()).isEqualTo(port);
            Await.until(
                    "the engine shows the difference",
                    () -> engine.lastFailure(service, "k")
                            .contains("began with another plan: node \\\"c\\\" is new, node \\\"b\\\" is gone"));
        }
        gate.countDown();
        try (Worker first = Worker.serve(RestateFlows.service(service, changing("b", begun), TestCodec.CODEC), port)) {
            assertThat(first.port()).isEqualTo(port);
            assertThat(TestCodec.value(engine.attach(service, "k").value())).isEqualTo("a");
        }
    }

    private FlowPlan<Void, String> changing(String second, CountDownLatch begun) {
        FlowBuilder<Void> f = FlowPlan.define("changing");
        Node<String> a = f.node("a", () -> "a");
        return f.returning(f.node(second, a, value -> {
            begun.countDown();
            gate.await();
            return value;
        }));
    }

    private static final ThreadLocal<String> TRACE = new ThreadLocal<>();

    /** A context of another library, which a caller sends as headers. */
    private static final ContextPropagator PROPAGATOR = new ContextPropagator() {
        @Override
        public Captured capture() {
            return () -> () -> {}; // the thread of the handler has no context
        }

        @Override
        public Captured restore(Map<String, String> saved) {
            return () -> {
                TRACE.set(saved.get("traceparent") + " " + saved.get("mdc-tenant"));
                return TRACE::remove;
            };
        }
    };

    @Test
    void a_run_has_the_context_that_its_caller_sends_as_headers(Engine engine) {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> sub = inner.returning(inner.node("deep", () -> noted("deep " + TRACE.get())));
        FlowBuilder<String> f = FlowPlan.define("traced", String.class);
        Node<String> first =
                f.node("first", () -> noted("first " + TRACE.get())).compensate(v -> noted("undo " + TRACE.get()));
        Node<Void> pause = f.sleep("pause", Duration.ofMillis(100)).needs(first);
        Node<String> nested = f.subflow("sub", sub, f.node("param", () -> "p").needs(after(pause)));
        FlowPlan<String, String> plan = f.returning(f.node("last", nested, value -> {
            throw new IllegalStateException("undo it");
        }));
        RestateOptions options =
                RestateOptions.defaults().withRun(RunOptions.defaults().addPropagator(PROPAGATOR));
        String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        try (Worker worker = Worker.serve(RestateFlows.service(service, plan, TestCodec.CODEC, options))) {
            engine.register(worker.port());
            Map<String, String> headers = Map.of("traceparent", trace, "mdc-tenant", "acme");

            Answer answer = engine.call(service, "k", "run", TestCodec.bytes("p"), headers);

            assertThat(answer.status()).isEqualTo(500);
            String context = " " + trace + " acme";
            assertThat(calls).containsExactly("first" + context, "deep" + context, "undo" + context);
        }
    }
}
