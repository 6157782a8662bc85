package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JoinTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final List<String> begun = new CopyOnWriteArrayList<>();

    private ThreadScope open() {
        return ThreadScope.open("s").withTimeSource(time);
    }

    private Callable<String> failing(String name) {
        return () -> {
            begun.add(name);
            throw new IOException(name);
        };
    }

    private Callable<String> noting(String name, Callable<String> then) {
        return () -> {
            begun.add(name);
            return then.call();
        };
    }

    // First success.

    @Test
    void the_first_value_wins_and_the_losers_have_ended_when_the_join_returns() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        CountDownLatch inside = new CountDownLatch(1);
        try (ThreadScope scope = open()) {
            String value = scope.join(
                    JoinStrategy.firstSuccess(),
                    List.of(
                            () -> {
                                inside.countDown();
                                try {
                                    new CountDownLatch(1).await();
                                } catch (InterruptedException lost) {
                                    Thread.yield(); // the join must not return meanwhile
                                    ended.set(true);
                                }
                                return "loser";
                            },
                            () -> {
                                inside.await();
                                return "winner";
                            }));

            assertThat(value).isEqualTo("winner");
            assertThat(ended).isTrue();
            assertThat(scope.tasks.pending.unfinished()).isEmpty();
            assertThat(scope.metrics().cancelled()).isEqualTo(1);
            assertThat(scope.token().isCancelled()).isFalse();
        }
    }

    @Test
    void null_is_a_value() throws Exception {
        try (ThreadScope scope = open()) {
            assertThat(scope.<String, String>join(JoinStrategy.firstSuccess(), List.of(() -> null)))
                    .isNull();
            assertThat(scope.<String, String>join(JoinStrategy.hedged(SECOND), List.of(() -> null, () -> "late")))
                    .isNull();
            assertThat(scope.<String, List<String>>join(JoinStrategy.quorum(2), List.of(() -> null, () -> null)))
                    .containsExactly(null, null);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_failure_loses_to_a_later_value() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = open()) {
            FutureTask<String> join = new FutureTask<>(
                    () -> scope.join(JoinStrategy.firstSuccess(), List.of(failing("a"), blocker, failing("c"))));
            Thread thread = Thread.startVirtualThread(join);
            blocker.awaitBegun();
            Wait.until(() -> scope.metrics().failed() == 2);
            blocker.release();
            thread.join();
            assertThat(join.resultNow()).isEqualTo("value");
        }
    }

    @Test
    void if_all_fail_every_failure_is_listed_in_the_order_of_the_alternatives() {
        CountDownLatch second = new CountDownLatch(1);
        try (ThreadScope scope = open()) {
            assertThatThrownBy(() -> scope.join(
                            JoinStrategy.firstSuccess(),
                            List.of(
                                    () -> {
                                        second.await();
                                        throw new IOException("one");
                                    },
                                    () -> {
                                        second.countDown();
                                        throw new AssertionError("two");
                                    })))
                    .isInstanceOfSatisfying(AggregateException.class, all -> {
                        assertThat(all.failures())
                                .extracting(Throwable::getMessage)
                                .containsExactly("one", "two");
                        assertThat(all)
                                .hasMessage("join strategy, first success in scope \"s\" is impossible: 2 of 2 failed,"
                                        + " 1 needed");
                    });
        }
    }

    @Test
    void alternatives_that_wait_for_the_limit_are_cancelled_in_the_queue() throws Exception {
        try (ThreadScope scope = open().withConcurrencyLimit(1)) {
            String value = scope.join(
                    JoinStrategy.firstSuccess(),
                    List.of(noting("a", () -> "a"), noting("b", new BlockingTask()), noting("c", new BlockingTask())));
            assertThat(value).isEqualTo("a");
            assertThat(scope.tasks.pending.unfinished()).isEmpty();
            assertThat(begun).startsWith("a").doesNotContain("c");
        }
    }

    // Quorum.

    @Test
    void a_quorum_is_the_first_values_in_order_of_completion() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        BlockingTask slow = new BlockingTask();
        try (ThreadScope scope = open()) {
            FutureTask<List<String>> join = new FutureTask<>(() -> scope.<String, List<String>>join(
                    JoinStrategy.quorum(2),
                    List.<Callable<String>>of(
                            slow,
                            () -> {
                                first.await();
                                return "second";
                            },
                            () -> "first")));
            Thread thread = Thread.startVirtualThread(join);
            Wait.until(() -> scope.metrics().succeeded() == 1
                    && scope.tasks.pending.unfinished().size() == 2);
            assertThat(join.isDone()).isFalse();
            first.countDown();
            thread.join();

            assertThat(join.resultNow()).containsExactly("first", "second");
            assertThat(slow.hasBegun() ? slow.interrupts() : 1).isEqualTo(1);
        }
    }

    @Test
    void a_quorum_fails_as_soon_as_it_is_impossible() throws Exception {
        BlockingTask never = new BlockingTask();
        try (ThreadScope scope = open()) {
            assertThatThrownBy(() -> scope.join(JoinStrategy.quorum(3), List.of(never, failing("b"), () -> "c")))
                    .isInstanceOfSatisfying(
                            AggregateException.class,
                            all -> assertThat(all.failures())
                                    .extracting(Throwable::getMessage)
                                    .containsExactly("b"))
                    .hasMessage("join strategy, quorum of 3 in scope \"s\" is impossible: 1 of 3 failed, 3 needed");
            assertThat(scope.tasks.pending.unfinished())
                    .as("nothing is left running")
                    .isEmpty();
        }
    }

    @Test
    void too_few_alternatives_are_rejected_before_any_begins() {
        try (ThreadScope scope = open()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> scope.join(JoinStrategy.quorum(2), List.of(() -> "a")))
                    .withMessage("join strategy, quorum of 2 needs at least 2 alternatives, there are 1");
            assertThatIllegalArgumentException().isThrownBy(() -> scope.join(JoinStrategy.firstSuccess(), List.of()));
            assertThatNullPointerException()
                    .isThrownBy(() ->
                            scope.join(JoinStrategy.firstSuccess(), Arrays.<Callable<String>>asList(() -> "", null)));
            assertThat(scope.metrics().submitted()).isZero();
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JoinStrategy.quorum(0))
                .withMessage("quorum must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JoinStrategy.hedged(Duration.ZERO))
                .withMessage("delay of a hedge must be positive, was PT0S");
    }

    // Hedged.

    @Test
    void backups_begin_one_by_one_each_a_delay_after_the_last_and_the_winner_cancels_the_rest() throws Exception {
        BlockingTask one = new BlockingTask();
        BlockingTask two = new BlockingTask();
        BlockingTask three = new BlockingTask();
        try (ThreadScope scope = open()) {
            FutureTask<String> join = new FutureTask<>(() ->
                    scope.join(JoinStrategy.hedged(SECOND), List.of(one, two, three, noting("four", () -> "never"))));
            Thread thread = Thread.startVirtualThread(join);
            one.awaitBegun();
            time.awaitAlarms(1);
            time.advance(SECOND.minusNanos(1));
            assertThat(two.hasBegun()).isFalse();
            time.advance(Duration.ofNanos(1));
            two.awaitBegun();
            time.awaitAlarms(1);
            time.advance(SECOND.minusNanos(1));
            assertThat(three.hasBegun()).isFalse();
            time.advance(Duration.ofNanos(1));
            three.awaitBegun();
            time.awaitAlarms(1);

            two.release();
            thread.join();

            assertThat(join.resultNow()).isEqualTo("value");
            assertThat(one.interrupts()).isEqualTo(1);
            assertThat(three.interrupts()).isEqualTo(1);
            assertThat(begun).isEmpty();
            assertThat(scope.tasks.pending.unfinished()).isEmpty();
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_backup_begins_at_once_when_the_running_ones_have_failed_and_its_delay_counts_anew() throws Exception {
        BlockingTask last = new BlockingTask();
        AtomicInteger armed = new AtomicInteger();
        TimeSource counting = new TimeSource() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                Alarm alarm = time.after(delay, action);
                armed.incrementAndGet();
                return alarm;
            }
        };
        try (ThreadScope scope = ThreadScope.open("s").withTimeSource(counting)) {
            FutureTask<String> join = new FutureTask<>(() -> scope.join(
                    JoinStrategy.hedged(SECOND), List.of(failing("a"), failing("b"), last, noting("d", () -> "d"))));
            Thread thread = Thread.startVirtualThread(join);
            last.awaitBegun(); // no time has passed
            assertThat(begun).containsExactly("a", "b");
            Wait.until(() -> armed.get() == 3 && time.alarms() == 1); // the alarms of a and b are obsolete
            time.advance(SECOND);
            thread.join();

            assertThat(join.resultNow()).isEqualTo("d");
            assertThat(last.interrupts()).isEqualTo(1);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_hedge_fails_with_all_failures_if_all_alternatives_fail() {
        List<Callable<String>> many = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            many.add(failing("x"));
        }
        try (ThreadScope scope = open()) {
            assertThatThrownBy(() -> scope.join(JoinStrategy.hedged(SECOND), many))
                    .isInstanceOfSatisfying(
                            AggregateException.class,
                            all -> assertThat(all.failures()).hasSize(5_000));
        }
        Wait.until(() -> time.alarms() == 0); // an alarm that was being set is cancelled
    }

    @Test
    void failing_hedges_on_a_scheduler_that_runs_in_place_need_no_more_stack_than_one() {
        List<Callable<String>> many = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            many.add(failing("x"));
        }
        try (ThreadScope scope = open().withScheduler(Runnable::run)) {
            assertThatThrownBy(() -> scope.join(JoinStrategy.hedged(SECOND), many))
                    .isInstanceOfSatisfying(
                            AggregateException.class,
                            all -> assertThat(all.failures())
                                    .hasSize(20_000)
                                    .allMatch(each -> each instanceof IOException));
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_hedge_with_one_alternative_sets_no_alarm() throws Exception {
        try (ThreadScope scope = open()) {
            String value = scope.join(JoinStrategy.hedged(SECOND), List.of(() -> "only"));
            assertThat(value).isEqualTo("only");
        }
        assertThat(time.alarms()).isZero();
    }

    // Joins and their scope.

    @Test
    void a_join_ends_with_its_scope_and_says_why() throws Exception {
        for (JoinStrategy<String, ?> strategy : List.of(
                JoinStrategy.<String>firstSuccess(),
                JoinStrategy.<String>quorum(2),
                JoinStrategy.<String>hedged(Duration.ofDays(1)))) {
            BlockingTask one = new BlockingTask();
            BlockingTask two = new BlockingTask();
            try (ThreadScope scope = open()) {
                FutureTask<Object> join = new FutureTask<>(() -> scope.join(strategy, List.of(one, two)));
                Thread thread = Thread.startVirtualThread(join);
                one.awaitBegun();
                scope.cancel("enough");
                thread.join();
                assertThat(join.exceptionNow())
                        .isInstanceOf(CancelledException.class)
                        .hasMessage("scope \"s\" was cancelled: enough");
                assertThatThrownBy(() -> scope.join(strategy, List.of(one, two)))
                        .isInstanceOf(CancelledException.class);
            }
            BlockingTask slow = new BlockingTask();
            try (ThreadScope scope = open().withDeadline(SECOND)) {
                FutureTask<Object> join =
                        new FutureTask<>(() -> scope.join(strategy, List.<Callable<String>>of(slow, () -> {
                            throw new CancelledException("not this one");
                        })));
                Thread thread = Thread.startVirtualThread(join);
                if (strategy.needed() == 1) {
                    slow.awaitBegun();
                    time.advance(SECOND);
                    thread.join();
                    assertThat(join.exceptionNow()).isInstanceOf(ScopeTimeoutException.class);
                } else {
                    thread.join();
                    assertThat(join.exceptionNow()).isInstanceOf(AggregateException.class);
                }
            }
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void an_interrupted_join_throws_and_cancels_the_alternatives() throws Exception {
        BlockingTask one = new BlockingTask();
        BlockingTask two = new BlockingTask();
        try (ThreadScope scope = open()) {
            FutureTask<String> join =
                    new FutureTask<>(() -> scope.join(JoinStrategy.firstSuccess(), List.of(one, two)));
            Thread thread = Thread.ofPlatform().start(join);
            one.awaitBegun();
            two.awaitBegun();
            thread.interrupt();
            thread.join();
            assertThat(join.exceptionNow()).isInstanceOf(InterruptedException.class);
            one.awaitInterrupt();
            two.awaitInterrupt();
            assertThat(scope.submit(() -> "of use").await()).isEqualTo("of use");
        }
    }

    @Test
    void an_alternative_is_a_task_of_the_scope_with_its_retries_and_hooks() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger submitted = new AtomicInteger();
        ThreadHook hook = new ThreadHook() {
            @Override
            public void onSuccess(TaskInfo task, Duration ran) {
                submitted.incrementAndGet();
            }
        };
        try (ThreadScope scope = open().withRetryPolicy(RetryPolicy.attempts(3)).addHook(hook)) {
            String value = scope.join(JoinStrategy.firstSuccess(), List.of(() -> {
                if (calls.incrementAndGet() < 3) {
                    throw new IOException();
                }
                return "third time";
            }));
            assertThat(value).isEqualTo("third time");
            assertThat(submitted).hasValue(1);
        }
    }

    @Test
    void a_task_may_join_alternatives_in_its_own_scope() throws Exception {
        try (ThreadScope scope = open()) {
            Task<String> task =
                    scope.submit(() -> scope.join(JoinStrategy.firstSuccess(), List.of(() -> "a", () -> "a")));
            assertThat(task.await()).isEqualTo("a");
        }
    }
}
