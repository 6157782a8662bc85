package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupTask;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.JoinStrategy;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nothing of a call goes on after the call has thrown because its caller was interrupted, cancelled or out of time. */
@Timeout(120)
class InterruptedCallerTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch begun = new CountDownLatch(1); // the action that is interrupted
    private volatile Thread caller;

    /** A way in which the caller of a run is interrupted. It returns when the run must be over. */
    record Way(String name, Interruption interruption) {
        @Override
        public String toString() {
            return name;
        }
    }

    interface Interruption {
        void of(InterruptedCallerTest test) throws Exception;
    }

    static Stream<Way> ways() {
        return Stream.of(
                new Way("a thread", InterruptedCallerTest::ofThread),
                new Way("a cancelled scope", InterruptedCallerTest::ofCancelledScope),
                new Way("a cancelled task of a scope", InterruptedCallerTest::ofCancelledTask),
                new Way("a scope at its deadline", InterruptedCallerTest::ofExpiredScope),
                new Way("a structured scope that is shut down", InterruptedCallerTest::ofStructuredScope),
                new Way("a cancelled task of a group", InterruptedCallerTest::ofCancelledHandle),
                new Way("a group that is closed", InterruptedCallerTest::ofClosedGroups),
                new Way("a pool that is shut down", InterruptedCallerTest::ofPool),
                new Way("a node of an interrupted run", InterruptedCallerTest::ofOuterRun),
                new Way("a subflow of an interrupted run", InterruptedCallerTest::ofSubflow));
    }

    private static void ofThread(InterruptedCallerTest test) throws InterruptedException {
        Thread thread = Thread.ofPlatform().start(test::run);
        test.begun.await();
        thread.interrupt();
        thread.join();
    }

    private static void ofCancelledScope(InterruptedCallerTest test) throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("page")) {
            scope.submit(test::run);
            test.begun.await();
            scope.cancel("the client has gone");
        }
    }

    private static void ofCancelledTask(InterruptedCallerTest test) throws InterruptedException {
        try (ThreadScope scope = ThreadScope.open("page")) {
            var task = scope.submit(test::run);
            test.begun.await();
            task.cancel();
        }
    }

    private static void ofExpiredScope(InterruptedCallerTest test) throws InterruptedException {
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open("page").withTimeSource(time).withDeadline(MINUTE)) {
            scope.submit(test::run);
            test.begun.await();
            time.advance(MINUTE);
        }
    }

    private static void ofStructuredScope(InterruptedCallerTest test) throws InterruptedException {
        try (StructuredTaskScope<Object> scope = new StructuredTaskScope<>()) {
            scope.fork(() -> {
                test.run();
                return null;
            });
            test.begun.await();
            scope.shutdown();
            scope.join();
        }
    }

    private static void ofCancelledHandle(InterruptedCallerTest test) throws InterruptedException {
        try (GroupExecutor groups =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
            TaskHandle<Void> task = groups.submit("tenant", test::run);
            test.begun.await();
            task.cancel(true);
            assertThat(groups.awaitIdle(MINUTE)).isTrue();
        }
    }

    private static void ofClosedGroups(InterruptedCallerTest test) throws InterruptedException {
        GroupExecutor groups =
                GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build());
        groups.submit("tenant", test::run);
        test.begun.await();
        groups.shutdown(Duration.ZERO);
        groups.close();
    }

    private static void ofPool(InterruptedCallerTest test) throws InterruptedException {
        ThreadPool pool = ThreadPool.builder("pool").threads(1).build();
        pool.execute(test::run);
        test.begun.await();
        pool.shutdownNow();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    }

    private static void ofOuterRun(InterruptedCallerTest test) throws InterruptedException {
        FlowBuilder<Void> outer = FlowPlan.define("outer");
        FlowPlan<Void, Object> plan = outer.returning(outer.node("inner", () -> {
            test.run();
            return 1;
        }));
        Thread thread = Thread.ofPlatform()
                .start(() -> assertThatThrownBy(() -> plan.run(null)).isInstanceOf(InterruptedException.class));
        test.begun.await();
        thread.interrupt();
        thread.join();
    }

    private static void ofSubflow(InterruptedCallerTest test) throws InterruptedException {
        FlowBuilder<Void> outer = FlowPlan.define("outer");
        Node<Object> inner = outer.subflow("inner", test.plan(), Dependency.order(outer.node("first", () -> 1)));
        Thread thread = Thread.ofPlatform().start(() -> test.runPlan(outer.returning(inner), RunOptions.defaults()));
        test.begun.await();
        thread.interrupt();
        thread.join();
    }

    /** Runs a plan until its caller is interrupted. */
    private void run() {
        runPlan(plan(), RunOptions.defaults());
    }

    private void runPlan(FlowPlan<Void, Object> plan, RunOptions options) {
        caller = Thread.currentThread();
        try {
            plan.run(null, options);
        } catch (InterruptedException interrupt) {
            // as intended
        } finally {
            events.add("over");
        }
    }

    /** A plan of which the first node is undone while the second is interrupted. */
    private FlowPlan<Void, Object> plan() {
        FlowBuilder<Void> flow = FlowPlan.define("flow");
        Node<String> booked = flow.node("book", () -> "booked").compensate(value -> {
            awaitCaller();
            events.add("undone");
        });
        return flow.returning(flow.node("slow", booked, value -> block()));
    }

    private Object block() throws InterruptedException {
        begun.countDown();
        new CountDownLatch(1).await();
        throw new AssertionError("not interrupted");
    }

    /** Waits until the caller waits or has ended, so that a caller which does not wait for this has thrown before. */
    private void awaitCaller() {
        Wait.until(() -> switch (caller.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            default -> false;
        });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ways")
    void a_run_whose_caller_is_interrupted_throws_when_it_is_undone(Way way) throws Exception {
        way.interruption().of(this);
        events.add("after");

        assertThat(events).containsExactly("undone", "over", "after");
    }

    @Test
    void a_run_in_its_callers_thread_throws_when_it_is_undone() throws Exception {
        Thread thread = Thread.ofPlatform()
                .start(() -> runPlan(plan(), RunOptions.defaults().inCallersThread()));
        begun.await();
        thread.interrupt();
        thread.join();

        assertThat(events).containsExactly("undone", "over");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void an_action_that_ignores_its_interrupt_has_returned_when_the_run_throws(boolean here) throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("flow");
        CountDownLatch mayReturn = new CountDownLatch(1);
        FlowPlan<Void, Object> plan = flow.returning(flow.node("stubborn", () -> {
            begun.countDown();
            Wait.uninterruptibly(mayReturn);
            events.add("returned");
            return 1;
        }));
        RunOptions options = RunOptions.defaults();
        Thread thread = Thread.ofPlatform().start(() -> runPlan(plan, here ? options.inCallersThread() : options));
        begun.await();
        thread.interrupt();
        awaitCaller();
        mayReturn.countDown();
        thread.join();

        assertThat(events).containsExactly("returned", "over");
    }

    @Test
    void what_fails_in_undoing_is_suppressed_in_the_exception_of_the_interrupted_run() throws Exception {
        IllegalStateException broken = new IllegalStateException("connection is closed");
        FlowBuilder<Void> flow = FlowPlan.define("flow");
        Node<String> booked = flow.node("book", () -> "booked").compensate(value -> {
            throw broken;
        });
        FlowPlan<Void, Object> plan = flow.returning(flow.node("slow", booked, value -> block()));
        AtomicReference<InterruptedException> thrown = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                plan.run(null);
            } catch (InterruptedException interrupt) {
                thrown.set(interrupt);
            }
        });
        begun.await();
        thread.interrupt();
        thread.join();

        assertThat(thrown.get().getSuppressed()).containsExactly(broken);
    }

    @Test
    void a_second_interrupt_does_not_shorten_the_wait_and_is_kept() throws Exception {
        CountDownLatch undoing = new CountDownLatch(1);
        CountDownLatch mayUndo = new CountDownLatch(1);
        FlowBuilder<Void> flow = FlowPlan.define("flow");
        Node<String> booked = flow.node("book", () -> "booked").compensate(value -> {
            undoing.countDown();
            mayUndo.await();
            events.add("undone");
        });
        FlowPlan<Void, Object> plan = flow.returning(flow.node("slow", booked, value -> block()));
        Thread thread = Thread.ofPlatform().start(() -> {
            runPlan(plan, RunOptions.defaults());
            events.add(Thread.interrupted() ? "interrupted again" : "not interrupted again");
        });
        begun.await();
        thread.interrupt();
        undoing.await();
        awaitCaller();
        thread.interrupt();
        Wait.until(() -> !thread.isInterrupted()); // it has seen the second interrupt
        awaitCaller();
        mayUndo.countDown();
        thread.join();

        assertThat(events).containsExactly("undone", "over", "interrupted again");
    }

    @Test
    void an_interrupted_join_of_alternatives_throws_when_they_have_ended() throws Exception {
        Thread thread = Thread.ofPlatform().start(() -> {
            try (ThreadScope scope = ThreadScope.open("page")) {
                caller = Thread.currentThread();
                assertThatThrownBy(() -> scope.join(JoinStrategy.firstSuccess(), this::stubborn, this::stubborn))
                        .isInstanceOf(InterruptedException.class);
                events.add("over");
            }
        });
        begun.await();
        thread.interrupt();
        thread.join();

        assertThat(events).last().isEqualTo("over");
    }

    @Test
    void an_interrupted_map_throws_when_its_calls_have_ended() throws Exception {
        Thread thread = Thread.ofPlatform().start(() -> {
            try (ThreadScope scope = ThreadScope.open("page")) {
                caller = Thread.currentThread();
                assertThatThrownBy(() -> scope.map(List.of(1, 2), 2, number -> stubborn()))
                        .isInstanceOf(InterruptedException.class);
                events.add("over");
            }
        });
        begun.await();
        thread.interrupt();
        thread.join();

        assertThat(events).last().isEqualTo("over");
    }

    @Test
    void an_interrupted_execution_of_all_returns_when_its_tasks_have_ended() throws Exception {
        Thread thread = Thread.ofPlatform().start(() -> {
            try (GroupExecutor groups =
                    GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
                caller = Thread.currentThread();
                groups.executeAll(List.of(new GroupTask<>("tenant", TaskSpec.named("slow", this::stubborn))));
                events.add(Thread.interrupted() ? "interrupted" : "not interrupted");
            }
        });
        begun.await();
        thread.interrupt();
        thread.join();

        assertThat(events).containsExactly("ended", "interrupted");
    }

    /** Returns some time after its interrupt, when a caller that does not wait for this has gone on. */
    private Object stubborn() {
        try {
            return block();
        } catch (InterruptedException interrupt) {
            awaitCaller();
            events.add("ended");
            return 1;
        }
    }
}
