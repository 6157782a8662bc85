package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callbacks and listeners of nodes, and the treatment of exceptions of user code. */
@Timeout(60)
class FlowCallbacksTest {

    private final FlowBuilder<Void> f = FlowPlan.define("callbacks");
    private final Queue<String> swallowed = new ConcurrentLinkedQueue<>();
    private final RunOptions options = RunOptions.defaults()
            .withExceptionSink(ExceptionSink.to((source, error) -> swallowed.add(source + ": " + error.getMessage())));

    private Node<String> failing(String id) {
        return f.node(id, () -> {
            throw new IllegalStateException(id + " is broken");
        });
    }

    @Test
    void the_begin_callback_precedes_the_action_and_the_result_callback_follows_it() throws Exception {
        List<String> events = new ArrayList<>();
        Node<String> a = f.node("a", () -> {
                    events.add("action");
                    return "A";
                })
                .onBegin(c -> events.add("begin of " + c.id()))
                .onResult(report -> events.add("result " + report.value() + " " + report.via()));
        Node<String> b = f.node("b", a, x -> {
            events.add("dependant");
            return x;
        });
        f.returning(b).run(null);
        assertThat(events).containsExactly("begin of a", "action", "result A ACTION", "dependant");
    }

    @Test
    void a_node_that_does_not_run_has_only_its_result_callback_called() throws Exception {
        List<String> events = new ArrayList<>();
        Node<String> bad = failing("bad");
        for (Node<String> node :
                List.of(f.node("must", bad, x -> x), f.node("off", () -> "").when(c -> false))) {
            node.onBegin(c -> events.add("begin")).onResult(report -> events.add(report.id() + " " + report.state()));
        }
        f.build().run(null, options.inCallersThread());
        assertThat(events).containsExactlyInAnyOrder("must FAILED", "off SKIPPED");
    }

    @Test
    void a_second_callback_is_called_in_addition_to_the_first() throws Exception {
        List<String> events = new ArrayList<>();
        f.node("a", () -> "A")
                .onBegin(c -> events.add("begin 1"))
                .onBegin(c -> events.add("begin 2"))
                .onResult(report -> events.add("result 1"))
                .onResult(report -> events.add("result 2"));
        f.build().run(null, options);
        assertThat(events).containsExactly("begin 1", "begin 2", "result 1", "result 2");
    }

    @Test
    void null_is_a_value() throws Exception {
        Node<String> a = f.node("a", () -> null);
        Node<String> b = f.node("b", a, x -> x);
        Node<String> c = f.node("c", anyOf(a), x -> x + "!");
        Node<String> d = f.node("d", optional(b), c, (x, y) -> x + y);
        FlowResult<String> result = f.returning(d).run(null, options);
        assertThat(result.value()).isEqualTo("Optional.emptynull!");
        assertThat(result.node(b).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node(b).via()).isEqualTo(ValueSource.ACTION);
        assertThat(result.outcome(a)).isEqualTo(new Outcome.Success<>(null));
        FlowResult<String> nothing = f.returning(b).run(null, options.inCallersThread());
        assertThat(nothing.value()).isNull();
    }

    @Test
    void an_error_is_a_failure_like_any_other() throws Exception {
        Node<String> a = f.node("a", () -> {
            throw new OutOfMemoryError("not really");
        });
        Node<String> b = f.node("b", after(a), o -> o.status().toString());
        Node<String> deep = f.node("deep", FlowCallbacksTest::endless);
        FlowResult<String> result = f.returning(b).run(null, options);
        assertThat(result.value()).isEqualTo("FAILED");
        assertThat(result.node(a).cause()).isInstanceOf(OutOfMemoryError.class);
        assertThat(result.node(deep).cause()).isInstanceOf(StackOverflowError.class);
        assertThat(swallowed).isEmpty();
    }

    @SuppressWarnings("InfiniteRecursion") // intended
    private static String endless() {
        return endless() + "!";
    }

    @Test
    void an_action_that_throws_an_interrupted_exception_itself_has_failed_and_was_not_cancelled() throws Exception {
        Node<String> a = f.node("a", () -> {
            throw new InterruptedException("own");
        });
        Node<Boolean> b = f.node("b", after(a), o -> Thread.currentThread().isInterrupted());
        FlowResult<Boolean> result = f.returning(b).run(null, options);
        assertThat(result.node(a).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.value()).isFalse();
    }

    @Test
    void exceptions_of_callbacks_are_reported_to_the_sink_and_have_no_other_effect() throws Exception {
        Node<String> a = f.node("a", () -> "A")
                .onBegin(c -> {
                    throw new IllegalStateException("begin is broken");
                })
                .onResult(report -> {
                    throw new AssertionError("result is broken");
                });
        Node<String> b = f.node("b", a, x -> x + "B");

        FlowResult<String> result = f.returning(b).run(null, options);

        assertThat(result.value()).isEqualTo("AB");
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(swallowed)
                .containsExactly(
                        "begin callback of node \"a\" in flow \"callbacks\": begin is broken",
                        "result callback of node \"a\" in flow \"callbacks\": result is broken");
    }

    @Test
    void exceptions_of_two_callbacks_are_both_reported_to_the_sink() throws Exception {
        f.node("a", () -> "A")
                .onResult(report -> {
                    throw new IllegalStateException("first is broken");
                })
                .onResult(report -> {
                    throw new IllegalStateException("second is broken");
                });
        List<Throwable> recorded = new ArrayList<>();
        f.build().run(null, options.withExceptionSink(ExceptionSink.to((source, error) -> {
            recorded.add(error);
            recorded.addAll(List.of(error.getSuppressed()));
        })));
        assertThat(recorded)
                .extracting(Throwable::getMessage)
                .containsExactlyInAnyOrder("first is broken", "second is broken");
    }

    @Test
    void a_sink_that_throws_has_no_effect() throws Exception {
        Node<String> a = f.node("a", () -> "A").onResult(report -> {
            throw new IllegalStateException("result is broken");
        });
        RunOptions broken = options.withExceptionSink(ExceptionSink.to((source, error) -> {
            throw new IllegalStateException("sink is broken, too");
        }));
        assertThat(f.returning(a).run(null, broken).value()).isEqualTo("A");
    }

    @Test
    void the_exception_of_a_default_supplier_is_suppressed_in_the_cause() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Node<String> a = failing("a").defaultFrom(() -> {
            asked.incrementAndGet();
            throw new IllegalArgumentException("default is broken");
        });
        FlowResult<String> result = f.returning(a).run(null, options);
        assertThat(asked).hasValue(1);
        assertThat(result.node(a).via()).isEqualTo(ValueSource.NONE);
        assertThat(result.node(a).cause()).hasMessage("a is broken");
        assertThat(result.node(a).cause().getSuppressed()[0]).hasMessage("default is broken");
        assertThatThrownBy(result::value)
                .isInstanceOf(FlowFailedException.class)
                .hasCause(result.node(a).cause());
    }

    @Test
    void a_default_may_be_null_and_is_not_computed_if_the_node_succeeds() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Node<String> a = failing("a").defaultValue(null);
        Node<String> b = f.node("b", () -> "B").defaultFrom(() -> "D" + asked.incrementAndGet());
        FlowResult<String> result = f.returning(a).run(null, options);
        assertThat(result.value()).isNull();
        assertThat(result.node(a).via()).isEqualTo(ValueSource.DEFAULT);
        assertThat(result.node(b).value()).isEqualTo("B");
        assertThat(asked).hasValue(0);
    }

    @Test
    void a_skipped_node_has_its_default() throws Exception {
        Node<String> a = f.node("a", () -> "A").when(c -> false).defaultFrom(() -> "D");
        FlowResult<String> result = f.returning(a).run(null, options);
        assertThat(result.value()).isEqualTo("D");
        assertThat(result.node(a).cause()).isNull();
    }

    /** Records the events of tasks by their names. */
    private static final class RecordingListener implements TaskListener {
        private final Map<String, List<String>> events = new ConcurrentHashMap<>();
        private final Set<TaskIdentity> identities =
                java.util.Collections.synchronizedSet(java.util.Collections.newSetFromMap(new IdentityHashMap<>()));

        private void add(TaskIdentity task, String event) {
            identities.add(task);
            assertThat(task.owner()).isEqualTo("callbacks");
            events.computeIfAbsent(task.name(), name -> new ArrayList<>()).add(event);
        }

        @Override
        public void onSubmitted(TaskIdentity task) {
            add(task, "submitted");
        }

        @Override
        public void onStarted(TaskIdentity task, long waitNanos) {
            add(task, "started");
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            add(task, "settled " + outcome.status());
        }
    }

    // see TaskListener
    @Test
    void a_listener_is_notified_once_of_the_submission_and_once_of_the_end_of_each_node() throws Exception {
        RecordingListener recorder = new RecordingListener();
        Node<String> a = f.node("a", () -> "A");
        Node<String> bad = failing("bad");
        f.node("must", bad, x -> x);
        f.node("off", a, x -> x).when(c -> false);
        f.build().run(null, options.addListener(recorder));
        assertThat(recorder.events.get("a")).containsExactly("submitted", "started", "settled SUCCESS");
        assertThat(recorder.events.get("bad")).containsExactly("submitted", "started", "settled FAILED");
        assertThat(recorder.events.get("off")).containsExactly("submitted", "settled SKIPPED");
        assertThat(recorder.events.get("must")).containsExactly("submitted", "settled FAILED");
    }

    // see TaskIdentity
    @Test
    void a_listener_is_notified_of_the_start_before_the_end() throws Exception {
        VirtualTime clock = new VirtualTime();
        CountDownLatch otherSettled = new CountDownLatch(1);
        List<String> recorded = Collections.synchronizedList(new ArrayList<>());
        f.node("a", new BlockingTask()::call);
        f.node("other", new BlockingTask()::call);
        TaskListener listener = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                if (task.name().equals("a")) {
                    clock.advance(Duration.ofSeconds(1)); // all have ended now, except for this one
                    awaitQuietly(otherSettled);
                    recorded.add("started");
                }
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                if (task.name().equals("a")) {
                    recorded.add("settled");
                } else {
                    otherSettled.countDown();
                }
            }
        };
        FlowResult<Void> result = f.build()
                .run(
                        null,
                        RunOptions.timeout(Duration.ofSeconds(1))
                                .withTimeSource(clock)
                                .addListener(listener));
        assertThat(result.node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(recorded).containsExactly("started", "settled");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    @Test
    void a_listener_receives_the_run_time_of_a_node() throws Exception {
        VirtualTime clock = new VirtualTime();
        AtomicLong ran = new AtomicLong();
        f.node("a", () -> {
            clock.advance(Duration.ofSeconds(2));
            return 1;
        });
        f.build().run(null, RunOptions.defaults().withTimeSource(clock).addListener(new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                ran.set(runNanos);
            }
        }));
        assertThat(ran).hasValue(2_000_000_000L);
    }

    @Test
    void a_listener_receives_one_identity_for_each_node_of_each_run() throws Exception {
        RecordingListener recorder = new RecordingListener();
        f.node("a", () -> "A");
        FlowPlan<Void, Void> plan = f.build();
        plan.run(null, options.addListener(recorder));
        assertThat(recorder.identities).hasSize(1);
        plan.run(null, options.addListener(recorder));
        assertThat(recorder.identities).hasSize(2);
        assertThat(Set.copyOf(recorder.identities)).hasSize(2);
    }

    // see TaskListener.onStarted
    @Test
    void a_listener_receives_the_wait_time_and_the_run_time_of_a_node() throws Exception {
        VirtualTime time = new VirtualTime();
        StepScheduler steps = new StepScheduler();
        List<Long> recorded = new ArrayList<>();
        f.node("a", () -> {
            time.advance(Duration.ofNanos(7));
            return "A";
        });
        TaskListener listener = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                recorded.add(waitNanos);
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                recorded.add(runNanos);
            }
        };
        FlowRun<Void> run = f.build()
                .start(null, options.addListener(listener).withScheduler(steps).withTimeSource(time));
        time.advance(Duration.ofNanos(5));
        steps.runAll();
        run.join();
        assertThat(recorded).containsExactly(5L, 7L);
    }

    @Test
    void two_listeners_are_both_notified_and_one_that_throws_has_no_effect() throws Exception {
        RecordingListener recorder = new RecordingListener();
        TaskListener broken = new TaskListener() {
            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                throw new IllegalStateException("listener is broken");
            }
        };
        Node<String> a = f.node("a", () -> "A");
        FlowResult<String> result =
                f.returning(a).run(null, options.addListener(broken).addListener(recorder));
        assertThat(result.value()).isEqualTo("A");
        assertThat(recorder.events.get("a")).containsExactly("submitted", "started", "settled SUCCESS");
        assertThat(swallowed).anyMatch(each -> each.endsWith("listener is broken"));
    }

    // Outcome
    @Test
    void an_outcome_describes_the_end_of_a_node_without_its_default() throws Exception {
        Node<String> a = failing("a").defaultValue("D");
        Node<String> skipped = f.node("skipped", () -> "S").when(c -> false);
        Node<String> any = f.node("any", anyOf(a), x -> x);
        FlowResult<String> result = f.returning(a).run(null, options);
        assertThat(result.outcome(a)).isInstanceOf(Outcome.Failure.class);
        assertThat(result.outcome(skipped).status()).isEqualTo(TaskStatus.SKIPPED);
        assertThat(result.outcome("any").status()).isEqualTo(TaskStatus.FAILED);
        assertThat(result.outcome(any)).isEqualTo(result.outcome("any"));
    }

    /** Cancels a run when a certain node is submitted. */
    private static final class Canceller implements TaskListener {
        private final List<String> events = new ArrayList<>();
        private Runnable cancel = () -> {};

        @Override
        public void onSubmitted(TaskIdentity task) {
            if (task.name().equals("b")) {
                cancel.run();
                events.add("submitted");
            }
        }

        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
            if (task.name().equals("b")) {
                events.add("settled " + outcome.status());
            }
        }
    }

    @Test
    void a_listener_is_never_notified_of_the_end_during_the_notification_of_the_submission() throws Exception {
        Canceller canceller = new Canceller();
        StepScheduler steps = new StepScheduler();
        Node<String> a = f.node("a", () -> "A");
        f.node("b", a, x -> x);
        FlowRun<Void> run = f.build().start(null, options.addListener(canceller).withScheduler(steps));
        canceller.cancel = () -> run.cancel("just now");
        steps.runAll();
        run.join();
        assertThat(canceller.events).containsExactly("submitted", "settled CANCELLED");
    }

    @Test
    void errors_of_callbacks_and_listeners_are_reported_to_the_sink_and_have_no_other_effect() throws Exception {
        List<String> recorded = new java.util.concurrent.CopyOnWriteArrayList<>();
        TaskListener broken = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                throw new NoClassDefFoundError("submitted " + task.name());
            }

            @Override
            public void onStarted(TaskIdentity task, long waitNanos) {
                throw new NoClassDefFoundError("started " + task.name());
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long runNanos) {
                throw new NoClassDefFoundError("settled " + task.name());
            }
        };
        Node<String> a = f.node("a", () -> "A")
                .onBegin(c -> {
                    throw new AssertionError("begin a");
                })
                .onResult(report -> {
                    throw new StackOverflowError("result a");
                });
        Node<String> b = f.node("b", a, x -> x + "B").onResult(report -> {
            throw new OutOfMemoryError("result b");
        });
        FlowResult<String> result = f.returning(b)
                .run(
                        null,
                        RunOptions.defaults()
                                .addListener(broken)
                                .withExceptionSink(
                                        ExceptionSink.to((source, failure) -> recorded.add(failure.getMessage()))));
        assertThat(result.value()).isEqualTo("AB");
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(recorded)
                .containsExactlyInAnyOrder(
                        "submitted a",
                        "begin a",
                        "started a",
                        "result a",
                        "settled a",
                        "submitted b",
                        "started b",
                        "result b",
                        "settled b");
    }
}
