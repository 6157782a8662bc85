package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The caller's context is available in every node and callback, and removed afterwards. */
@Timeout(60)
class FlowContextTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");
    private static final ScopedValue<String> LOCALE = ScopedValue.newInstance();
    private static final ThreadLocal<String> MDC = new ThreadLocal<>();

    private static final ContextPropagator PROPAGATOR = () -> {
        String captured = MDC.get();
        return () -> {
            String before = MDC.get();
            MDC.set(captured);
            return () -> MDC.set(before);
        };
    };

    private final Map<String, String> seen = new ConcurrentHashMap<>();
    private final RunOptions options =
            RunOptions.defaults().addPropagator(PROPAGATOR).addScopedValue(LOCALE);

    private static String context() {
        return TaskContext.current().get(TENANT) + " " + (LOCALE.isBound() ? LOCALE.get() : null) + " " + MDC.get();
    }

    private void see(String where) {
        seen.put(where, context());
    }

    private static <R> FlowResult<R> inContext(Callable<FlowResult<R>> action) throws Exception {
        MDC.set("request 7");
        try {
            return ScopedValue.where(LOCALE, "fr")
                    .<FlowResult<R>, Exception>call(
                            () -> TaskContext.current().with(TENANT, "acme").call(action));
        } finally {
            MDC.remove();
        }
    }

    private FlowPlan<Void, String> plan() {
        FlowBuilder<Void> f = FlowPlan.define("context");
        Node<String> a = f.node("a", () -> {
                    see("action");
                    return "A";
                })
                .when(c -> {
                    see("condition");
                    return true;
                })
                .onBegin(c -> see("begin"))
                .onResult(report -> see("result"));
        Node<String> b = f.<String, String>node("b", a, x -> {
                    see("next action");
                    throw new IllegalStateException("b is broken");
                })
                .fallback(failure -> {
                    see("fallback");
                    throw failure instanceof Exception e ? e : new IllegalStateException(failure);
                })
                .defaultFrom(() -> {
                    see("default");
                    return "D";
                });
        f.node("c", b, x -> x).onResult(report -> see("result of what did not run"));
        f.node("undone", () -> "U").compensate(value -> see("compensation"));
        return f.returning(b);
    }

    @Test
    void no_attempt_sees_context_changes_of_another() throws Exception {
        List<String> found = new ArrayList<>();
        FlowBuilder<Void> f = FlowPlan.define("attempts");
        f.node("a", () -> {
                    found.add(MDC.get());
                    MDC.set("left by attempt " + found.size());
                    throw new IllegalStateException("again");
                })
                .retry(RetryPolicy.attempts(3));
        inContext(() -> f.build().run(null, options.inCallersThread()));

        assertThat(found).containsExactly("request 7", "request 7", "request 7");
    }

    @Test
    void a_listener_is_notified_of_a_start_without_the_context_and_of_a_submission_with_it() throws Exception {
        Map<String, String> recorded = new ConcurrentHashMap<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                recorded.put(task.name() + " submitted", String.valueOf(MDC.get()));
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                recorded.put(task.name() + " started", String.valueOf(MDC.get()));
            }
        };
        FlowBuilder<Void> f = FlowPlan.define("heard");
        Node<String> a = f.node("a", () -> "A").onBegin(context -> see("begin"));
        f.node("b", a, x -> x);
        inContext(() -> f.build().run(null, options.addListener(listener)));

        assertThat(recorded)
                .containsOnly(
                        Map.entry("a submitted", "request 7"),
                        Map.entry("b submitted", "request 7"),
                        Map.entry("a started", "null"),
                        Map.entry("b started", "null"));
        assertThat(seen).containsEntry("begin", "acme fr request 7");
    }

    @Test
    void a_node_sees_the_deadline_of_its_run_even_with_a_propagated_context() throws Exception {
        VirtualTime time = new VirtualTime();
        FlowBuilder<Void> f = FlowPlan.define("deadline");
        Node<Boolean> a = f.node("a", () -> {
            try (ThreadScope scope = ThreadScope.open("inside")) {
                return scope.remaining().isPresent();
            }
        });
        FlowPlan<Void, Boolean> plan = f.returning(a);
        RunOptions limited = options.withTimeSource(time).withTimeout(Duration.ofSeconds(1));

        assertThat(inContext(() -> plan.run(null, limited)).value()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_callers_context_is_in_every_node_and_callback(boolean here) throws Exception {
        FlowPlan<Void, String> plan = plan();
        inContext(() -> plan.run(null, here ? options.inCallersThread() : options));
        assertThat(seen)
                .containsOnlyKeys(
                        "action",
                        "condition",
                        "begin",
                        "result",
                        "next action",
                        "fallback",
                        "default",
                        "result of what did not run",
                        "compensation");
        assertThat(seen.entrySet())
                .allSatisfy(
                        entry -> assertThat(entry.getValue()).as(entry.getKey()).isEqualTo("acme fr request 7"));
    }

    @Test
    void the_callers_context_is_in_callbacks_of_nodes_that_a_deadline_has_ended() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        FlowBuilder<Void> f = FlowPlan.define("late");
        Node<String> a = f.node("a", slow::call)
                .onResult(report -> see("result"))
                .defaultFrom(() -> {
                    see("default");
                    return "D";
                })
                .timeout(Duration.ofSeconds(1));
        f.node("b", after(a), x -> {
            see("action after");
            return x;
        });
        AtomicReference<FlowRun<String>> run = new AtomicReference<>();
        inContext(() -> {
            run.set(f.returning(a).start(null, options.withTimeSource(time)));
            return null;
        });
        slow.awaitBegun();
        time.advance(Duration.ofSeconds(1));
        run.get().join();
        assertThat(seen).containsOnlyKeys("result", "default", "action after");
        assertThat(seen.entrySet())
                .allSatisfy(
                        entry -> assertThat(entry.getValue()).as(entry.getKey()).isEqualTo("acme fr request 7"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_callers_context_is_in_the_function_of_a_groups_key(boolean triggeredByTimeout) throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        FlowBuilder<Void> f = FlowPlan.define("groups");
        Node<String> a =
                triggeredByTimeout ? f.node("a", slow::call).timeout(Duration.ofSeconds(1)) : f.node("a", () -> "A");
        f.node("b", after(a), x -> "B").group(c -> {
            see("key");
            return "g";
        });
        AtomicReference<FlowRun<Void>> run = new AtomicReference<>();
        inContext(() -> {
            run.set(f.build().start(null, options.withTimeSource(time).withGroups(key -> Scheduler.virtualThreads())));
            return null;
        });
        if (triggeredByTimeout) {
            slow.awaitBegun();
            time.advance(Duration.ofSeconds(1));
        }
        run.get().join();
        assertThat(seen).containsEntry("key", "acme fr request 7");
    }

    @Test
    void the_context_is_removed_from_the_thread_when_the_run_has_ended() throws Exception {
        FlowPlan<Void, String> plan = plan();
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            inContext(() -> plan.run(null, options.withScheduler(Scheduler.from(pool))));
            assertThat(pool.submit(FlowContextTest::context).get()).isEqualTo("null null null");
        }
        assertThat(context()).isEqualTo("null null null");
    }

    @Test
    void a_runs_context_is_that_of_its_own_caller() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("own");
        FlowPlan<Void, String> plan = f.returning(f.node("a", FlowContextTest::context));
        assertThat(inContext(() -> plan.run(null, options)).value()).isEqualTo("acme fr request 7");
        assertThat(plan.run(null, options).value()).isEqualTo("null null null");
    }

    @Test
    void scopes_and_tasks_inside_a_node_see_the_context() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("inner");
        Node<String> a = f.node("a", () -> {
                    try (ThreadScope scope = ThreadScope.open()) {
                        return scope.submit(() -> TaskContext.current().get(TENANT))
                                .await();
                    }
                })
                .timeout(Duration.ofMinutes(1));
        assertThat(inContext(() -> f.returning(a).run(null, options)).value()).isEqualTo("acme");
    }

    @Test
    void exceptions_of_a_propagator_are_reported_to_the_sink_and_have_no_other_effect() throws Exception {
        Queue<String> swallowed = new ConcurrentLinkedQueue<>();
        List<ContextPropagator> broken = new ArrayList<>();
        broken.add(() -> {
            throw new IllegalStateException("capture is broken");
        });
        broken.add(() -> () -> {
            throw new IllegalStateException("install is broken");
        });
        broken.add(() -> () -> () -> {
            throw new IllegalStateException("restore is broken");
        });
        RunOptions all =
                options.withExceptionSink(ExceptionSink.to((source, error) -> swallowed.add(error.getMessage())));
        for (ContextPropagator each : broken) {
            all = all.addPropagator(each);
        }
        FlowBuilder<Void> f = FlowPlan.define("broken");
        FlowPlan<Void, String> plan = f.returning(f.node("a", () -> "A"));
        assertThat(plan.run(null, all).value()).isEqualTo("A");
        assertThat(swallowed).contains("capture is broken", "install is broken", "restore is broken");
    }

    @Test
    void without_the_option_a_scoped_value_is_not_propagated() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("unregistered");
        FlowPlan<Void, String> plan = f.returning(f.node("a", FlowContextTest::context));
        assertThat(inContext(() -> plan.run(null)).value()).isEqualTo("acme null null");
    }

    /** A context that durable runs have, too. */
    private static final ContextPropagator SAVING = new ContextPropagator() {
        @Override
        public Captured capture() {
            return PROPAGATOR.capture();
        }

        @Override
        public Map<String, String> save() {
            return Map.of("mdc", String.valueOf(MDC.get()));
        }

        @Override
        public Captured restore(Map<String, String> saved) {
            return () -> {
                String before = MDC.get();
                MDC.set(saved.get("mdc"));
                return () -> MDC.set(before);
            };
        }
    };

    @Test
    void a_run_with_a_saved_context_has_it_in_place_of_that_of_its_starter_everywhere() throws Exception {
        RunOptions saving = RunOptions.defaults().addPropagator(SAVING).addScopedValue(LOCALE);
        FlowBuilder<String> g = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> inner = g.returning(g.node("deep", () -> {
            see("deep");
            return "D";
        }));
        FlowBuilder<Void> f = FlowPlan.define("outer");
        Node<String> sub = f.subflow("sub", inner, f.node("first", () -> "p").compensate(value -> see("undo first")));
        f.node("last", sub, value -> {
            see("last");
            throw new IllegalStateException("undo it");
        });
        FlowPlan<Void, ?> plan = f.build();
        MDC.set("request 6");
        Map<String, String> saved = saving.savedContext();
        MDC.remove();

        inContext(() -> plan.run(null, saving.withSavedContext(saved)));

        assertThat(seen)
                .containsOnlyKeys("deep", "last", "undo first")
                .allSatisfy((where, context) -> assertThat(context).isEqualTo("acme fr request 6"));
    }

    @Test
    void a_propagator_that_saves_nothing_propagates_the_context_of_the_starter() throws Exception {
        FlowPlan<Void, String> plan = plan();

        inContext(() -> plan.run(null, options.withSavedContext(Map.of("mdc", "request 6"))));

        assertThat(seen.get("action")).isEqualTo("acme fr request 7");
    }

    @Test
    void an_exception_while_a_context_is_saved_or_restored_hides_no_other_context() throws Exception {
        List<String> failed = new ArrayList<>();
        ContextPropagator broken = new ContextPropagator() {
            @Override
            public Captured capture() {
                throw new IllegalStateException("not called");
            }

            @Override
            public Map<String, String> save() {
                throw new IllegalStateException("save");
            }

            @Override
            public Captured restore(Map<String, String> saved) {
                throw new IllegalStateException("restore");
            }

            @Override
            public String toString() {
                return "broken";
            }
        };
        RunOptions saving = RunOptions.defaults()
                .withExceptionSink(
                        ExceptionSink.to((source, failure) -> failed.add(source + ": " + failure.getMessage())))
                .addPropagator(broken)
                .addPropagator(SAVING)
                .inCallersThread();
        MDC.set("request 6");
        Map<String, String> saved = saving.savedContext();
        MDC.remove();
        FlowBuilder<Void> f = FlowPlan.define("flow");

        FlowResult<String> result = f.returning(f.node("n", () -> MDC.get())).run(null, saving.withSavedContext(saved));

        assertThat(result.value()).isEqualTo("request 6");
        assertThat(failed)
                .containsExactly(
                        "save() of context propagator broken: save", "capture() of context propagator broken: restore");
    }
}
