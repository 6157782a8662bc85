package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertIllegalState;
import static dev.raddle.scope.Tasks.assertOtherThreadIsRejected;
import static dev.raddle.scope.Tasks.assertWrongThread;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.testing.Wait;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shutting a StructuredTaskScope down, and closing it. */
class ShutdownAndCloseTest {

    @ParameterizedTest
    @EnumSource
    void what_was_forked_before_a_shutdown_runs_and_is_interrupted(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            AtomicBoolean interrupted = new AtomicBoolean();
            CountDownLatch done = new CountDownLatch(1);
            var subtask = scope.fork(() -> {
                try {
                    return Tasks.forever();
                } catch (InterruptedException expected) {
                    interrupted.set(true);
                    return "late";
                } finally {
                    done.countDown();
                }
            });
            scope.shutdown();
            done.await();
            scope.join();

            assertThat(interrupted).isTrue();
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
            assertIllegalState(subtask::get);
            assertIllegalState(subtask::exception);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_shuts_down_is_not_interrupted(Kind kind) throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        try (StructuredTaskScope<String> scope = kind.open()) {
            scope.fork(() -> {
                scope.shutdown();
                scope.shutdown();
                interrupted.set(Thread.currentThread().isInterrupted());
                return "done";
            });
            scope.join();
        }
        assertThat(interrupted).isFalse();
    }

    @Test
    void a_subtask_that_shuts_down_before_its_fork_has_returned_is_not_interrupted() throws Exception {
        CountDownLatch shutDown = new CountDownLatch(1);
        CountDownLatch forked = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        ThreadFactory factory = run -> new Thread(run) {
            @Override
            public void start() { // returns to the forker when the scope is shut down
                super.start();
                Wait.until(() -> shutDown.getCount() == 0);
            }
        };
        try (var scope = new StructuredTaskScope<>(Kind.PLAIN_PLATFORM.options(factory))) {
            scope.fork(() -> {
                scope.shutdown();
                shutDown.countDown();
                Wait.until(() -> forked.getCount() == 0);
                interrupted.set(Thread.currentThread().isInterrupted());
                return null;
            });
            forked.countDown();
            scope.join();
        }
        assertThat(interrupted).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void a_shutdown_by_a_subtask_wakes_the_owner_while_the_subtask_continues(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            Thread owner = Thread.currentThread();
            CountDownLatch latch = new CountDownLatch(1);
            scope.fork(() -> {
                Tasks.awaitParkedAt(owner, "join");
                scope.shutdown();
                latch.await();
                return "late";
            });
            scope.join();
            latch.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_closed_scope_is_not_shut_down(Kind kind) throws Exception {
        var scope = kind.open();
        scope.join();
        scope.close();

        assertIllegalState(scope::shutdown);
    }

    @ParameterizedTest
    @EnumSource
    void threads_shut_down_their_scope_and_those_around_it(Kind kind) throws Exception {
        try (StructuredTaskScope<Boolean> outer = kind.open();
                StructuredTaskScope<Boolean> inner = kind.open()) {
            var inOuter = outer.fork(() -> {
                assertWrongThread(inner::shutdown);
                return true;
            });
            Wait.until(() -> inOuter.state() != Subtask.State.UNAVAILABLE);
            var inInner = inner.fork(() -> {
                outer.shutdown();
                return true;
            });
            inner.join();
            outer.join();

            assertThat(inOuter.get()).isTrue();
            assertThat(inInner.get()).isTrue();
            assertThat(outer.isShutdown()).isTrue();
            assertThat(inner.isShutdown()).isFalse();
            assertOtherThreadIsRejected(outer::shutdown);
            assertOtherThreadIsRejected(inner::shutdown);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_scope_stays_shut_down(Kind kind) {
        var scope = kind.open();
        assertThat(scope.isShutdown()).isFalse();
        scope.shutdown();
        assertThat(scope.isShutdown()).isTrue();
        scope.close();
        assertThat(scope.isShutdown()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void without_forks_no_join_is_required(Kind kind) {
        try (var scope = kind.open()) {
            assertThat(scope.isShutdown()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void close_without_join_interrupts_waits_and_throws(Kind kind) {
        var scope = kind.<String>open();
        AtomicBoolean ended = new AtomicBoolean();
        var subtask = scope.fork(() -> {
            try {
                return Tasks.forever();
            } finally {
                ended.set(true);
            }
        });

        assertThatThrownBy(scope::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call join() first");
        assertThat(ended).isTrue();
        assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        assertIllegalState(subtask::get);
        assertIllegalState(subtask::exception);
        scope.close(); // has no effect
    }

    @ParameterizedTest
    @EnumSource
    void close_throws_after_a_later_round_that_was_not_joined(Kind kind) throws Exception {
        var scope = kind.<String>open();
        scope.fork(() -> "joined");
        scope.join();
        var subtask = scope.fork(() -> Tasks.<String>forever());

        assertIllegalState(scope::close);
        assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        assertIllegalState(subtask::get);
        assertIllegalState(subtask::exception);
    }

    @ParameterizedTest
    @EnumSource
    void an_attempted_join_is_enough_for_close(Kind kind) {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var subtask = scope.fork(() -> Tasks.<String>forever());
            Thread.currentThread().interrupt();
            assertThatThrownBy(scope::join).isInstanceOf(InterruptedException.class);
            assertIllegalState(subtask::get);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_join_that_ran_out_of_time_is_enough_for_close(Kind kind) {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var subtask = scope.fork(() -> Tasks.<String>forever());
            assertThatThrownBy(() -> scope.joinUntil(Instant.now())).isInstanceOf(TimeoutException.class);
            assertIllegalState(subtask::get);
        }
    }

    @ParameterizedTest
    @EnumSource
    void only_the_owner_closes(Kind kind) throws Exception {
        try (StructuredTaskScope<Boolean> scope = kind.open()) {
            var subtask = scope.fork(() -> {
                assertWrongThread(scope::close);
                return true;
            });
            scope.join();

            assertThat(subtask.get()).isTrue();
            assertOtherThreadIsRejected(scope::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupted_owner_closes_without_a_second_interrupt(Kind kind) throws Exception {
        AtomicBoolean endedInPeace = new AtomicBoolean();
        CountDownLatch closing = new CountDownLatch(1);
        Thread owner = Thread.currentThread();
        var scope = kind.open();
        scope.fork(() -> {
            try {
                Tasks.forever();
            } catch (InterruptedException expected) {
                // interrupted by the shutdown
            }
            closing.await(); // a second interrupt would end this
            Tasks.awaitParkedAt(owner, "close");
            endedInPeace.set(!Thread.interrupted());
            return null;
        });
        scope.shutdown();
        scope.join();
        Thread.currentThread().interrupt();
        closing.countDown();
        scope.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(endedInPeace).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupt_during_close_is_kept_and_interrupts_no_subtask(Kind kind) throws Exception {
        AtomicBoolean endedInPeace = new AtomicBoolean();
        Thread owner = Thread.currentThread();
        var scope = kind.open();
        scope.fork(() -> {
            try {
                Tasks.forever();
            } catch (InterruptedException expected) {
                // interrupted by the shutdown
            }
            Tasks.interruptAt(owner, "close");
            Wait.until(() -> !owner.isInterrupted()); // the owner has seen the interrupt and continues to wait
            Tasks.awaitParkedAt(owner, "close");
            endedInPeace.set(!Thread.interrupted());
            return null;
        });
        scope.shutdown();
        scope.join();
        scope.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(endedInPeace).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void closing_an_outer_scope_first_closes_the_inner_one_and_is_a_violation(Kind kind) throws Exception {
        StructuredTaskScope<Object> outer = kind.open();
        StructuredTaskScope<Object> inner = kind.open();
        outer.join();
        assertThatThrownBy(outer::close).isInstanceOf(StructureViolationException.class);

        AtomicBoolean ran = new AtomicBoolean();
        var subtask = inner.fork(() -> ran.getAndSet(true));
        assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        inner.join();
        inner.fork(() -> ran.getAndSet(true));
        inner.close(); // a subtask that never ran requires no join
        assertThat(ran).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void closing_an_outer_scope_first_waits_for_the_inner_one(Kind kind) throws Exception {
        StructuredTaskScope<Object> outer = kind.open();
        StructuredTaskScope<Object> inner = kind.open();
        Thread owner = Thread.currentThread();
        AtomicBoolean ended = new AtomicBoolean();
        inner.fork(() -> {
            Tasks.interruptAt(owner, "close");
            Wait.until(() -> !owner.isInterrupted());
            Tasks.awaitParkedAt(owner, "close");
            ended.set(!Thread.currentThread().isInterrupted());
            return null;
        });
        assertThatThrownBy(outer::close).isInstanceOf(StructureViolationException.class);

        assertThat(ended).isTrue();
        assertThat(Thread.interrupted()).isTrue();
        assertIllegalState(inner::close); // it was not joined
    }

    @ParameterizedTest
    @EnumSource
    void handleComplete_is_called_for_successes_and_failures(Kind kind) throws Exception {
        Set<Subtask<?>> notified = ConcurrentHashMap.newKeySet();
        Callable<String> success = () -> "value";
        Callable<String> failure = () -> {
            throw new IllegalArgumentException("no");
        };
        try (var scope = collecting(kind, notified)) {
            scope.fork(success);
            scope.fork(failure);
            scope.join();

            assertThat(find(notified, success).state()).isEqualTo(Subtask.State.SUCCESS);
            assertThat(find(notified, success).get()).isEqualTo("value");
            assertThat(find(notified, failure).state()).isEqualTo(Subtask.State.FAILED);
            assertThat(find(notified, failure).exception()).hasMessage("no");
        }
    }

    private static StructuredTaskScope<String> collecting(Kind kind, Set<Subtask<?>> notified) {
        return new StructuredTaskScope<>(kind.options()) {
            @Override
            protected void handleComplete(Subtask<? extends String> subtask) {
                super.handleComplete(subtask);
                notified.add(subtask);
            }
        };
    }

    private static Subtask<?> find(Set<Subtask<?>> notified, Callable<?> task) {
        return notified.stream()
                .filter(subtask -> subtask.task() == task)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource
    void handleComplete_is_not_called_for_subtasks_that_end_after_a_shutdown(Kind kind) throws Exception {
        Set<Subtask<?>> notified = ConcurrentHashMap.newKeySet();
        try (var scope = collecting(kind, notified)) {
            CountDownLatch latch = new CountDownLatch(1);
            Callable<String> late = () -> {
                Wait.until(() -> latch.getCount() == 0);
                return "late";
            };
            var success = scope.fork(late);
            var failure = scope.fork(() -> {
                late.call();
                throw new IllegalArgumentException("late");
            });
            scope.shutdown();
            var after = scope.fork(() -> "after");
            latch.countDown();
            scope.join();
            scope.close();

            assertThat(notified).isEmpty();
            assertThat(Set.of(success, failure, after))
                    .allMatch(subtask -> subtask.state() == Subtask.State.UNAVAILABLE);
        }
    }

    @Test
    void handleComplete_accepts_only_completed_subtasks() throws Exception {
        class Open extends StructuredTaskScope<Object> {
            void complete(Subtask<?> subtask) {
                handleComplete(subtask);
            }
        }
        try (var scope = new Open()) {
            var running = scope.fork(Tasks::forever);
            assertThatThrownBy(() -> scope.complete(running)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> scope.complete(null)).isInstanceOf(NullPointerException.class);
            scope.shutdown();
            scope.join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_exception_of_handleComplete_goes_to_the_uncaught_exception_handler(Kind kind) throws Exception {
        Set<String> uncaught = ConcurrentHashMap.newKeySet();
        var options = kind.options(run -> {
            Thread thread = kind.factory.newThread(run);
            thread.setUncaughtExceptionHandler((where, what) -> uncaught.add(what.getMessage()));
            return thread;
        });
        try (var scope = new StructuredTaskScope<Object>(options) {
            @Override
            protected void handleComplete(Subtask<?> subtask) {
                throw new IllegalArgumentException("from handleComplete");
            }
        }) {
            var first = scope.fork(() -> "value");
            scope.join();
            scope.fork(() -> "other");
            scope.join();

            assertThat(first.get()).isEqualTo("value");
        }
        assertThat(uncaught).containsExactly("from handleComplete");
    }

    @Test
    void an_exception_of_the_uncaught_exception_handler_goes_to_the_sink() throws Exception {
        AtomicReference<Throwable> reported = new AtomicReference<>();
        var options = StructuredScopeOptions.defaults()
                .withExceptionSink(dev.raddle.task.ExceptionSink.to((source, error) -> reported.set(error)))
                .withThreadFactory(run -> {
                    Thread thread = new Thread(run);
                    thread.setUncaughtExceptionHandler((where, what) -> {
                        throw new IllegalStateException("from the handler");
                    });
                    return thread;
                });
        try (var scope = new StructuredTaskScope<Object>(options) {
            @Override
            protected void handleComplete(Subtask<?> subtask) {
                throw new IllegalArgumentException("from handleComplete");
            }
        }) {
            scope.fork(() -> "value");
            scope.join();
        }
        assertThat(reported.get()).hasMessage("from the handler");
        assertThat(reported.get().getSuppressed()[0]).hasMessage("from handleComplete");
    }

    private static final class Checked extends StructuredTaskScope<Object> {
        Checked(Kind kind) {
            super(kind.options());
        }

        void check() {
            ensureOwnerAndJoined();
        }
    }

    @ParameterizedTest
    @EnumSource
    void ensureOwnerAndJoined_requires_that_the_owner_has_joined(Kind kind) throws Exception {
        try (var scope = new Checked(kind)) {
            scope.check();
            var subtask = scope.fork(() -> {
                assertWrongThread(scope::check);
                return true;
            });
            assertIllegalState(scope::check);
            scope.join();
            scope.check();

            assertThat(subtask.get()).isEqualTo(true);
            assertOtherThreadIsRejected(scope::check);
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_close_ensureOwnerAndJoined_throws_no_more(Kind kind) throws Exception {
        var joined = new Checked(kind);
        joined.fork(() -> null);
        joined.join();
        joined.close();
        joined.check();

        var notJoined = new Checked(kind);
        notJoined.fork(() -> null);
        assertIllegalState(notJoined::close);
        notJoined.check();

        var interrupted = new Checked(kind);
        interrupted.fork(Tasks::forever);
        Thread.currentThread().interrupt();
        assertThatThrownBy(interrupted::join).isInstanceOf(InterruptedException.class);
        interrupted.close();
        interrupted.check();
    }

    @ParameterizedTest
    @EnumSource
    void toString_has_name_state_and_container(Kind kind) throws Exception {
        var scope = new StructuredTaskScope<>(kind.options().withName("duke"));
        String container = scope.container.toString();
        assertThat(scope).hasToString("duke (" + container + ")");
        scope.shutdown();
        assertThat(scope).hasToString("duke/shutdown (" + container + ")");
        scope.join();
        scope.close();
        assertThat(scope).hasToString("duke/closed (" + container + ")");
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_is_interrupted_once(Kind kind) throws Exception {
        AtomicInteger interrupts = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        try (StructuredTaskScope<Object> scope = kind.open()) {
            scope.fork(() -> {
                while (go.getCount() > 0) {
                    try {
                        go.await();
                    } catch (InterruptedException interrupt) {
                        interrupts.incrementAndGet();
                    }
                }
                return null;
            });
            scope.shutdown();
            scope.shutdown();
            Wait.until(() -> interrupts.get() == 1);
            scope.join();
            go.countDown();
        }
        assertThat(interrupts).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(60)
    void a_shutdown_while_the_thread_is_being_made_interrupts_it(Kind kind) throws Exception {
        AtomicReference<StructuredTaskScope<Object>> opened = new AtomicReference<>();
        var options = kind.options(run -> {
            opened.get().shutdown();
            return kind.factory.newThread(run);
        });
        try (var scope = new StructuredTaskScope<>(options)) {
            opened.set(scope);
            scope.fork(Tasks::forever);
            scope.join();
        } // would wait for ever if the interrupt were missed
        assertThat(opened.get().isShutdown()).isTrue();
    }

    @Test
    @Timeout(60)
    void a_shutdown_during_the_start_and_the_forker_after_it_interrupt_once() throws Exception {
        AtomicReference<StructuredTaskScope<Object>> opened = new AtomicReference<>();
        AtomicInteger interrupts = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        var options = Kind.PLAIN_PLATFORM.options(run -> new Thread(run) {
            @Override
            public void start() {
                super.start();
                opened.get().shutdown();
                Wait.until(() -> interrupts.get() == 1);
            }
        });
        try (var scope = new StructuredTaskScope<>(options)) {
            opened.set(scope);
            scope.fork(() -> {
                while (go.getCount() > 0) {
                    try {
                        go.await();
                    } catch (InterruptedException interrupt) {
                        interrupts.incrementAndGet();
                    }
                }
                return Thread.interrupted() ? interrupts.incrementAndGet() : null;
            });
            scope.join();
            go.countDown();
        }
        assertThat(interrupts).hasValue(1);
    }
}
