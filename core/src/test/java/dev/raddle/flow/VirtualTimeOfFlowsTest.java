package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When {@code advance} returns, all alarms of a run and their effects have run, in the advancing thread. */
@Timeout(60)
class VirtualTimeOfFlowsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<Void> f = FlowPlan.define("virtual");
    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final BlockingTask slow = BlockingTask.uninterruptible();
    private final List<String> notified = new CopyOnWriteArrayList<>();
    private volatile @Nullable Thread advancing;

    private final TaskListener listener = new TaskListener() {
        @Override
        public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
            note("listener " + task.name() + " " + outcome.status());
        }
    };

    private final RunOptions untimed = RunOptions.defaults().withTimeSource(time);
    private final RunOptions timed = untimed.withTimeout(SECOND);

    private void note(String event) {
        notified.add(event + (Thread.currentThread() == advancing ? "" : " in another thread"));
    }

    private void noteResult(NodeReport<?> report) {
        note(report.id() + " " + report.state());
    }

    private void advance() {
        advance(SECOND);
    }

    private void advance(Duration length) {
        advancing = Thread.currentThread();
        time.advance(length);
        advancing = null;
    }

    @Test
    void a_nodes_timeout_has_ended_the_node_whose_action_runs_on_and_has_placed_the_next() throws Exception {
        Node<String> a = f.node("a", slow::call)
                .timeout(SECOND)
                .onResult(this::noteResult)
                .defaultFrom(() -> {
                    note("default");
                    return "D";
                });
        f.node("b", after(a), o -> "B").compute();
        FlowRun<Void> run = f.build().start(null, untimed.addListener(listener).withComputeScheduler(steps));
        slow.awaitBegun();

        advance();

        assertThat(run.state("a")).isEqualTo(NodeState.TIMED_OUT);
        assertThat(notified).containsExactly("default", "a TIMED_OUT", "listener a FAILED");
        assertThat(steps.size()).isEqualTo(1);
        steps.runAll();
        assertThat(run.isDone()).isTrue();
        assertThat(slow.returns()).isZero();
        slow.release();
        run.close();
    }

    @Test
    void a_deadline_has_ended_the_run_and_called_every_callback() throws Exception {
        Node<String> a = f.node("a", slow::call).onResult(this::noteResult);
        f.node("b", a, x -> x).onResult(this::noteResult);
        FlowRun<Void> run = f.build().start(null, timed.addListener(listener));
        slow.awaitBegun();

        advance();

        assertThat(run.isDone()).isTrue();
        assertThat(run.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(notified)
                .containsExactlyInAnyOrder("listener a FAILED", "a TIMED_OUT", "listener b FAILED", "b TIMED_OUT");
        slow.release();
        run.close();
    }

    @Test
    void a_node_whose_scheduler_runs_it_in_the_calling_thread_has_run() throws Exception {
        Node<String> a = f.node("a", slow::call).timeout(SECOND).compute();
        Node<String> b = f.node("b", after(a), o -> "B").onResult(this::noteResult);
        f.node("c", b, x -> x).onResult(this::noteResult);
        RunOptions options = untimed.withScheduler(Runnable::run).withComputeScheduler(Scheduler.virtualThreads());
        FlowRun<Void> run = f.build().start(null, options);
        slow.awaitBegun();

        advance();

        assertThat(notified).containsExactly("b SUCCESS", "c SUCCESS");
        assertThat(run.isDone()).isTrue();
        slow.release();
        run.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_node_with_a_group_has_been_placed_there(boolean inPlace) throws Exception {
        Node<String> a = f.node("a", slow::call).timeout(SECOND);
        f.node("b", after(a), o -> "B").group("g").onResult(this::noteResult);
        GroupPolicy policy = GroupPolicy.builder()
                .scheduler(key -> inPlace ? Runnable::run : steps)
                .timeSource(time)
                .build();
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(policy)) {
            FlowRun<Void> run = f.build().start(null, untimed.withGroups(groups::scheduler));
            slow.awaitBegun();

            advance();

            assertThat(steps.size()).isEqualTo(inPlace ? 0 : 1);
            assertThat(notified).hasSize(inPlace ? 1 : 0);
            assertThat(run.isDone()).isEqualTo(inPlace);
            steps.runAll();
            assertThat(run.join().node("b").state()).isEqualTo(NodeState.SUCCESS);
            slow.release();
            run.close();
        }
    }

    @Test
    void runs_that_are_due_in_one_advance_end_in_the_order_of_their_deadlines() throws Exception {
        FlowBuilder<String> g = FlowPlan.define("many", String.class);
        BlockingTask[] blocked = {BlockingTask.uninterruptible(), BlockingTask.uninterruptible(), slow};
        AtomicInteger next = new AtomicInteger();
        Node<String> a =
                g.node("a", c -> blocked[next.getAndIncrement()].call()).onResult(report -> note("a"));
        g.node("b", a, x -> x).onResult(report -> note("b"));
        FlowPlan<String, Void> plan = g.build();
        List<FlowRun<Void>> runs = new ArrayList<>();
        List<String> ended = new ArrayList<>();
        TaskListener counting = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
                ended.add(task.name() + runs.stream().filter(FlowRun::isDone).count() + " at "
                        + Duration.ofNanos(time.nanoTime()).toSeconds());
            }
        };
        for (int seconds : new int[] {3, 1, 3}) {
            runs.add(plan.start("", untimed.addListener(counting).withTimeout(SECOND.multipliedBy(seconds))));
            blocked[runs.size() - 1].awaitBegun();
        }

        advance(SECOND.multipliedBy(5));

        assertThat(ended).containsExactly("a0 at 1", "b0 at 1", "a1 at 3", "b1 at 3", "a2 at 3", "b2 at 3");
        assertThat(notified).containsExactly("a", "b", "a", "b", "a", "b");
        assertThat(runs).allMatch(FlowRun::isDone);
        for (BlockingTask each : blocked) {
            each.release();
        }
        runs.forEach(FlowRun::close);
    }

    @Test
    void callbacks_and_listeners_that_throw_stop_neither_the_advance_nor_the_run() throws Exception {
        TaskListener broken = new TaskListener() {
            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
                throw new AssertionError("listener");
            }
        };
        List<String> reported = new CopyOnWriteArrayList<>();
        Node<String> a = f.node("a", slow::call).onResult(report -> {
            throw new IllegalStateException("callback");
        });
        f.node("b", a, x -> x).onResult(this::noteResult);
        RunOptions options = timed.addListener(broken)
                .withExceptionSink(ExceptionSink.to((source, failure) -> reported.add(failure.getMessage())));
        FlowRun<Void> run = f.build().start(null, options);
        slow.awaitBegun();

        advance();

        assertThat(run.isDone()).isTrue();
        assertThat(reported).containsExactlyInAnyOrder("listener", "callback", "listener");
        assertThat(notified).containsExactly("b TIMED_OUT");
        slow.release();
        run.close();
    }

    @Test
    void a_callback_may_advance_the_time_to_the_deadline_of_its_run() throws Exception {
        BlockingTask other = BlockingTask.uninterruptible();
        f.node("a", slow::call).timeout(SECOND).onResult(report -> {
            noteResult(report);
            time.advance(SECOND);
            note("advanced");
        });
        f.node("b", other::call).onResult(this::noteResult);
        RunOptions options = untimed.withTimeout(SECOND.multipliedBy(2));
        FlowRun<Void> run = f.build().start(null, options);
        slow.awaitBegun();
        other.awaitBegun();

        advance();

        assertThat(notified).containsExactly("a TIMED_OUT", "b TIMED_OUT", "advanced");
        assertThat(run.isDone()).isTrue();
        assertThat(time.nanoTime()).isEqualTo(SECOND.multipliedBy(2).toNanos());
        slow.release();
        other.release();
        run.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_action_may_advance_the_time_to_its_own_timeout(boolean inCallersThread) throws Exception {
        List<String> notifiedInside = new ArrayList<>();
        AtomicInteger interrupts = new AtomicInteger();
        CountDownLatch actionEnded = new CountDownLatch(1); // which the run, timed out, does not wait for
        f.node("a", () -> {
                    advance();
                    notifiedInside.addAll(notified);
                    interrupts.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
                    actionEnded.countDown();
                    return "late";
                })
                .timeout(SECOND)
                .onResult(this::noteResult);
        RunOptions options = untimed;
        FlowResult<Void> result = f.build().run(null, inCallersThread ? options.inCallersThread() : options);
        actionEnded.await();

        assertThat(result.node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(notifiedInside).containsExactly("a TIMED_OUT");
        assertThat(interrupts).hasValue(1);
        assertThat(notified).containsExactly("a TIMED_OUT");
        assertThat(Thread.interrupted()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_nested_run_ends_with_its_node_or_with_the_outer_run(boolean ofTheRun) throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> deep = inner.node("deep", c -> slow.call()).onResult(this::noteResult);
        FlowBuilder<String> middle = FlowPlan.define("middle", String.class);
        Node<String> param = middle.node("param", NodeContext::param);
        Node<String> sub = middle.subflow("sub", inner.returning(deep), param).onResult(this::noteResult);
        Node<String> root = f.node("root", () -> "R");
        Node<String> outer = f.subflow("outer", middle.returning(sub), root).onResult(this::noteResult);
        if (!ofTheRun) {
            outer.timeout(SECOND);
        }
        RunOptions options = (ofTheRun ? timed : untimed);
        FlowRun<String> run = f.returning(outer).start(null, options);
        slow.awaitBegun();

        advance();

        Wait.until(run::isDone); // a thread that has opened a nested run may not have reported that yet
        assertThat(notified).containsExactlyInAnyOrder("deep CANCELLED", "sub CANCELLED", "outer TIMED_OUT");
        slow.release();
        run.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void compensations_have_undone_what_was_done(boolean nested) throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> booked = inner.node("booked", c -> "B").compensate(value -> note("undone " + value));
        Node<String> paid = inner.node("paid", booked, x -> slow.call()).onResult(this::noteResult);
        FlowPlan<String, String> plan = inner.returning(paid);
        Node<String> start = f.node("start", () -> "S").compensate(value -> note("undone " + value));
        f.subflow("sub", plan, start);
        RunOptions options = timed;
        FlowRun<?> run = nested ? f.build().start(null, options) : plan.start("", options);
        slow.awaitBegun();

        advance();

        assertThat(run.isDone()).isTrue();
        if (nested) {
            assertThat(notified).containsExactly("paid CANCELLED", "undone B", "undone S");
        } else {
            assertThat(notified).containsExactly("paid TIMED_OUT", "undone B");
        }
        slow.release();
        run.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual threads", "joining thread", "calling thread", "callback"})
    void an_alarm_may_run_a_whole_flow_and_wait_for_it(String where) throws Exception {
        Node<String> booked = f.node("booked", () -> "B").compensate(value -> notified.add("undone " + value));
        f.<String, String>node("paid", booked, x -> {
            throw new IllegalStateException("card declined");
        });
        FlowPlan<Void, Void> plan = f.build();
        RunOptions options = RunOptions.defaults().withTimeSource(time);
        Runnable runsFlow = () -> {
            try {
                notified.add(plan.run(
                                null,
                                switch (where) {
                                    case "joining thread" -> options.inCallersThread();
                                    case "calling thread" -> options.withScheduler(Runnable::run);
                                    default -> options;
                                })
                        .status()
                        .name());
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        };
        FlowBuilder<Void> g = FlowPlan.define("calling");
        g.node("a", slow::call).timeout(SECOND).onResult(report -> runsFlow.run());
        if (where.equals("callback")) {
            FlowRun<Void> run = g.build().start(null, options);
            slow.awaitBegun();
            advance();
            assertThat(run.isDone()).isTrue();
            slow.release();
            run.close();
        } else {
            time.after(SECOND, runsFlow);
            advance();
        }
        assertThat(notified).containsExactly("undone B", "FAILED");
    }

    @Test
    void a_retry_waits_on_virtual_time_in_the_thread_of_its_node() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        f.node("flaky", () -> {
                    if (attempts.incrementAndGet() < 3) {
                        throw new IllegalStateException("attempt " + attempts);
                    }
                    return attempts.get();
                })
                .retry(RetryPolicy.fixedDelay(3, SECOND));
        FlowRun<Void> run = f.build().start(null, untimed.withScheduler(steps));
        Thread runner = steps.startNext().orElseThrow();
        for (int done = 1; done < 3; done++) {
            time.awaitAlarms(1, Duration.ofMinutes(2));
            assertThat(attempts).hasValue(done);
            time.advance(SECOND);
        }
        runner.join();

        assertThat(run.isDone()).isTrue();
        assertThat(run.join().node("flaky").value()).isEqualTo(3);
        run.close();
    }

    @Test
    void a_retry_that_waits_is_ended_by_the_deadline() throws Exception {
        f.<String>node("flaky", () -> {
                    throw new IllegalStateException("again");
                })
                .retry(RetryPolicy.fixedDelay(3, SECOND.multipliedBy(2)))
                .onResult(this::noteResult);
        RunOptions options = untimed.withTimeout(SECOND.multipliedBy(3));
        FlowRun<Void> run = f.build().start(null, options.withScheduler(steps));
        Thread runner = steps.startNext().orElseThrow();
        time.awaitAlarms(2, Duration.ofMinutes(2));
        time.advance(SECOND);
        run.cancel("enough"); // while the node waits
        runner.join();

        advance(SECOND.multipliedBy(5));

        assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(notified).containsExactly("flaky CANCELLED in another thread");
        assertThat(time.alarms()).isZero();
        run.close();
    }

    @Test
    void a_cancel_that_races_with_the_deadline_leaves_one_end_to_each_node() throws Exception {
        AtomicInteger results = new AtomicInteger();
        BlockingTask blocked = BlockingTask.uninterruptible();
        Node<String> a = f.node("a", blocked::call).onResult(report -> results.incrementAndGet());
        f.node("b", a, x -> x).onResult(report -> results.incrementAndGet());
        FlowPlan<Void, Void> plan = f.build();
        for (int round = 1; round <= 200; round++) {
            VirtualTime clock = new VirtualTime();
            FlowRun<Void> run = plan.start(null, RunOptions.timeout(SECOND).withTimeSource(clock));
            blocked.awaitBegun();
            CountDownLatch ready = new CountDownLatch(1);
            Thread canceller = Thread.ofVirtual().start(() -> {
                ready.countDown();
                run.cancel("enough");
            });
            ready.await();
            clock.advance(SECOND);
            canceller.join();

            assertThat(run.isDone()).isTrue();
            assertThat(run.join().status()).isIn(FlowStatus.TIMED_OUT, FlowStatus.CANCELLED);
            assertThat(results).hasValue(2 * round);
        }
        blocked.release();
    }

    @Test
    void callbacks_do_not_see_an_interrupt_that_is_meant_for_the_advancing_thread() throws Exception {
        f.node("a", slow::call)
                .onResult(report -> note("interrupted " + Thread.currentThread().isInterrupted()));
        FlowRun<Void> run = f.build().start(null, timed);
        slow.awaitBegun();
        Thread.currentThread().interrupt();

        advance();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(notified).containsExactly("interrupted false");
        assertThat(run.isDone()).isTrue();
        slow.release();
        run.close();
    }
}
