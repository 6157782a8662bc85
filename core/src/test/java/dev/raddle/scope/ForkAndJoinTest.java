package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertIllegalState;
import static dev.raddle.scope.Tasks.assertOtherThreadIsRejected;
import static dev.raddle.scope.Tasks.assertWrongThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Opening, forking and joining a StructuredTaskScope. */
class ForkAndJoinTest {

    @ParameterizedTest
    @EnumSource
    void each_fork_runs_in_a_thread_of_its_own(Kind kind) throws Exception {
        Set<Long> threads = ConcurrentHashMap.newKeySet();
        try (var scope = kind.open()) {
            for (int i = 0; i < 100; i++) {
                scope.fork(() -> threads.add(Thread.currentThread().threadId()));
            }
            scope.join();
        }

        assertThat(threads).hasSize(100);
    }

    @Test
    void threads_are_virtual_unless_a_factory_is_given() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (var scope = new StructuredTaskScope<>()) {
            for (int i = 0; i < 100; i++) {
                scope.fork(() -> threads.add(Thread.currentThread()));
            }
            scope.join();
        }

        assertThat(threads).hasSize(100).allMatch(Thread::isVirtual);
    }

    @ParameterizedTest
    @EnumSource
    void the_factory_is_called_once_for_each_fork(Kind kind) throws Exception {
        AtomicInteger made = new AtomicInteger();
        ThreadFactory counting = run -> {
            made.incrementAndGet();
            return kind.factory.newThread(run);
        };
        try (var scope = new StructuredTaskScope<>(kind.options(counting))) {
            for (int i = 0; i < 100; i++) {
                scope.fork(() -> null);
            }
            scope.join();
        }

        assertThat(made).hasValue(100);
    }

    @ParameterizedTest
    @EnumSource
    void threads_fork_into_their_scope_and_those_around_it(Kind kind) throws Exception {
        try (StructuredTaskScope<Boolean> outer = kind.open();
                StructuredTaskScope<Boolean> inner = kind.open()) {
            Subtask<Boolean> inOuter = outer.fork(() -> {
                assertWrongThread(() -> inner.fork(() -> null));
                return true;
            });
            AtomicReference<Subtask<Boolean>> forked = new AtomicReference<>();
            Subtask<Boolean> inInner = inner.fork(() -> {
                forked.set(outer.fork(() -> true));
                return true;
            });
            inner.join();
            outer.join();

            assertThat(inOuter.get()).isTrue();
            assertThat(inInner.get()).isTrue();
            assertThat(forked.get().get()).isTrue();
            assertOtherThreadIsRejected(() -> outer.fork(() -> null));
            assertOtherThreadIsRejected(() -> inner.fork(() -> null));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_owner_may_fork_again_after_a_join_and_former_results_stay(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var first = scope.fork(() -> "one");
            assertIllegalState(first::get);
            scope.join();
            assertThat(first.get()).isEqualTo("one");

            var second = scope.fork(() -> "two");
            assertThat(first.get()).isEqualTo("one");
            assertIllegalState(second::get);
            scope.join();
            assertThat(second.get()).isEqualTo("two");

            var third = scope.fork(() -> "three");
            assertThat(second.get()).isEqualTo("two");
            assertIllegalState(third::get);
            scope.join();
            assertThat(third.get()).isEqualTo("three");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_owner_may_fork_after_an_interrupted_join(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var first = scope.fork(Tasks.after(latch, "one"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            latch.countDown();

            var second = scope.fork(() -> "two");
            assertIllegalState(first::get);
            assertIllegalState(second::get);
            scope.join();

            assertThat(first.get()).isEqualTo("one");
            assertThat(second.get()).isEqualTo("two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_after_shutdown_never_runs(Kind kind) throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        try (StructuredTaskScope<Boolean> scope = kind.open()) {
            scope.shutdown();
            Subtask<Boolean> late = scope.fork(() -> ran.getAndSet(true));
            scope.join();

            assertThat(late.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(late::get);
            assertIllegalState(late::exception);
        }
        assertThat(ran).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_without_a_start_requires_no_join(Kind kind) throws Exception {
        StructuredTaskScope<String> scope = kind.open();
        var first = scope.fork(() -> "joined");
        scope.join();
        scope.shutdown();
        scope.fork(() -> "never runs");

        scope.ensureOwnerAndJoined();
        assertThat(first.get()).isEqualTo("joined");
        scope.close();
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_without_a_start_keeps_results_readable(Kind kind) throws Exception {
        try (var scope = new StructuredTaskScope.ShutdownOnSuccess<String>(kind.options())) {
            scope.fork(() -> "first");
            scope.join();
            scope.fork(() -> "too late");

            assertThat(scope.result()).isEqualTo("first");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_closed_scope_forks_no_more(Kind kind) {
        var scope = kind.open();
        scope.close();

        assertThatThrownBy(() -> scope.fork(() -> null))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed; fork inside its try block");
    }

    @ParameterizedTest
    @EnumSource
    void a_factory_that_returns_null_rejects_and_the_scope_stays_usable(Kind kind) throws Exception {
        AtomicBoolean full = new AtomicBoolean(true);
        ThreadFactory sometimes = run -> full.get() ? null : kind.factory.newThread(run);
        try (var scope = new StructuredTaskScope<String>(kind.options(sometimes))) {
            assertThatThrownBy(() -> scope.fork(() -> "no"))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("returned null");
            scope.join();
            full.set(false);
            var subtask = scope.fork(() -> "yes");
            scope.join();

            assertThat(subtask.get()).isEqualTo("yes");
        }
        try (var scope = new StructuredTaskScope<String>(kind.options(run -> null))) {
            assertThatThrownBy(() -> scope.fork(() -> "no")).isInstanceOf(RejectedExecutionException.class);
        } // no join is required
    }

    @ParameterizedTest
    @EnumSource
    void an_exception_of_a_factory_is_thrown_by_fork_and_the_scope_stays_usable(Kind kind) throws Exception {
        ThreadFactory broken = run -> {
            throw new IllegalArgumentException("broken");
        };
        try (var scope = new StructuredTaskScope<String>(kind.options(broken))) {
            assertThatThrownBy(() -> scope.fork(() -> "no")).hasMessage("broken");
            scope.join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void without_subtasks_join_returns(Kind kind) throws Exception {
        try (var scope = kind.open()) {
            assertThat(scope.join()).isSameAs(scope);
        }
    }

    @ParameterizedTest
    @EnumSource
    void join_waits_for_subtasks(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            openWhenOwnerWaits(latch, "join");
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }

    private static void openWhenOwnerWaits(CountDownLatch latch, String method) {
        Thread owner = Thread.currentThread();
        Tasks.inAnotherThread(() -> {
            Tasks.awaitParkedAt(owner, method);
            latch.countDown();
        });
    }

    @ParameterizedTest
    @EnumSource
    void only_the_owner_joins(Kind kind) throws Exception {
        try (StructuredTaskScope<Boolean> scope = kind.open()) {
            var subtask = scope.fork(() -> {
                assertWrongThread(scope::join);
                assertWrongThread(() -> scope.joinUntil(Instant.MAX));
                return true;
            });
            scope.join();

            assertThat(subtask.get()).isTrue();
            assertOtherThreadIsRejected(scope::join);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupted_owner_does_not_join_and_interrupts_no_subtask(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_owner_may_be_interrupted_while_it_joins(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            Thread owner = Thread.currentThread();
            Tasks.inAnotherThread(() -> Tasks.interruptAt(owner, "join"));
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_a_shutdown_join_does_not_wait(Kind kind) throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        try (StructuredTaskScope<String> scope = kind.open()) {
            scope.fork(() -> {
                try {
                    return Tasks.forever();
                } catch (InterruptedException expected) {
                    interrupted.countDown();
                }
                finish.await();
                return "late";
            });
            scope.shutdown();
            interrupted.await();
            scope.join();
            finish.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_shutdown_by_handleComplete_wakes_the_owner(Kind kind) throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        try (var scope = new StructuredTaskScope<String>(kind.options()) {
            @Override
            protected void handleComplete(Subtask<? extends String> subtask) {
                shutdown();
            }
        }) {
            var first = scope.fork(Tasks.after(latch, "first"));
            var never = scope.fork(() -> Tasks.<String>forever());
            openWhenOwnerWaits(latch, "join");
            scope.join();

            assertThat(first.state()).isEqualTo(Subtask.State.SUCCESS);
            assertThat(first.get()).isEqualTo("first");
            assertIllegalState(first::exception);
            assertThat(never.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(never::get);
            assertIllegalState(never::exception);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_closed_scope_is_not_joined(Kind kind) throws Exception {
        var scope = kind.open();
        scope.join();
        scope.close();

        assertIllegalState(scope::join);
        assertIllegalState(() -> scope.joinUntil(Instant.now()));
    }

    @ParameterizedTest
    @EnumSource
    void joinUntil_returns_when_the_subtasks_end_before_the_deadline(Kind kind) throws Exception {
        VirtualTime time = new VirtualTime();
        try (var scope = new StructuredTaskScope<String>(kind.options().withTimeSource(time))) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            openWhenOwnerWaits(latch, "joinUntil");
            assertThat(scope.joinUntil(Instant.now().plusSeconds(30))).isSameAs(scope);

            assertThat(subtask.get()).isEqualTo("done");
            assertThat(time.alarms()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_cancels_nothing_and_one_may_join_again(Kind kind) throws Exception {
        VirtualTime time = new VirtualTime();
        try (var scope = new StructuredTaskScope<String>(kind.options().withTimeSource(time))) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            for (int i = 0; i < 3; i++) {
                Tasks.inAnotherThread(() -> {
                    Wait.until(() -> time.alarms() == 1);
                    time.advance(Duration.ofHours(1));
                });
                assertThatThrownBy(() -> scope.joinUntil(Instant.now().plusSeconds(3600)))
                        .isInstanceOf(TimeoutException.class)
                        .hasMessageContaining("1 subtasks go on");
                assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
                assertIllegalState(subtask::get);
            }
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_passes_in_real_time(Kind kind) {
        try (StructuredTaskScope<String> scope = kind.open()) {
            scope.fork(() -> Tasks.forever());
            Instant deadline = Instant.now().plusMillis(50);
            assertThatThrownBy(() -> scope.joinUntil(deadline)).isInstanceOf(TimeoutException.class);

            assertThat(Instant.now()).isAfterOrEqualTo(deadline.minusMillis(5));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_that_has_passed_does_not_wait(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var subtask = scope.fork(() -> Tasks.<String>forever());
            assertThatThrownBy(() -> scope.joinUntil(Instant.now())).isInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> scope.joinUntil(Instant.now().minusSeconds(1)))
                    .isInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> scope.joinUntil(Instant.MIN)).isInstanceOf(TimeoutException.class);
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            scope.shutdown();

            assertThat(scope.joinUntil(Instant.MIN)).isSameAs(scope);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupted_owner_does_not_join_until_a_deadline(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> scope.joinUntil(Instant.now().plusSeconds(30)))
                    .isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_owner_may_be_interrupted_while_it_joins_until_a_deadline(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch latch = new CountDownLatch(1);
            var subtask = scope.fork(Tasks.after(latch, "done"));
            Thread owner = Thread.currentThread();
            Tasks.inAnotherThread(() -> Tasks.interruptAt(owner, "joinUntil"));
            assertThatThrownBy(() -> scope.joinUntil(Instant.now().plusSeconds(600)))
                    .isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            latch.countDown();
            scope.join();

            assertThat(subtask.get()).isEqualTo("done");
        }
    }
}
