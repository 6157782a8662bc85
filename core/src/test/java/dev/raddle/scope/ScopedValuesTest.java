package dev.raddle.scope;

import static dev.raddle.scope.Tasks.assertIllegalState;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.StructuredTaskScope.Subtask;
import dev.raddle.task.TaskContext;
import dev.raddle.testing.Wait;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Scoped values in subtasks, and forks by subtasks. */
class ScopedValuesTest {

    private static final ScopedValue<String> NAME = ScopedValue.newInstance();
    private static final ScopedValue<String> OTHER = ScopedValue.newInstance();
    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");

    private static final String JDK_INHERITS = "only the JDK's scopes hand on values that were not registered";
    private static final String JDK_FINDS = "only the JDK's scopes know which values are bound";

    private static <T> T inNewScope(Kind kind, Callable<T> task) throws Exception {
        try (StructuredTaskScope<T> scope = kind.open()) {
            Subtask<T> subtask = scope.fork(task);
            scope.join();
            return subtask.get();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_sees_what_is_bound(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);

        assertThat(ScopedValue.where(NAME, "x").call(() -> inNewScope(kind, NAME::get)))
                .isEqualTo("x");
    }

    @ParameterizedTest
    @EnumSource
    void a_grandchild_sees_what_is_bound(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);

        assertThat(ScopedValue.where(NAME, "x").call(() -> inNewScope(kind, () -> inNewScope(kind, NAME::get))))
                .isEqualTo("x");
    }

    @ParameterizedTest
    @EnumSource
    void a_grandchild_sees_what_the_child_has_bound(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);

        String seen = ScopedValue.where(NAME, "x")
                .call(() -> inNewScope(kind, () -> {
                    String below = ScopedValue.where(NAME, "y").call(() -> inNewScope(kind, NAME::get));
                    return below + NAME.get();
                }));

        assertThat(seen).isEqualTo("yx");
    }

    @ParameterizedTest
    @EnumSource
    void leaving_a_binding_with_a_scope_open_closes_its_container(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_FINDS);
        AtomicReference<StructuredTaskScope<Object>> left = new AtomicReference<>();
        assertThatThrownBy(() -> ScopedValue.where(NAME, "x").run(() -> left.set(kind.open())))
                .hasMessage(null)
                .satisfies(thrown ->
                        assertThat(thrown.getClass().getSimpleName()).isEqualTo("StructureViolationException"));

        AtomicBoolean ran = new AtomicBoolean();
        try (var scope = left.get()) {
            var subtask = scope.fork(() -> ran.getAndSet(true));
            scope.join();
            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
        assertThat(ran).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void closing_under_a_later_binding_is_a_violation(Kind kind) {
        kind.needsTheJdk(JDK_FINDS);
        try (var scope = kind.open()) {
            ScopedValue.where(NAME, "x")
                    .run(() -> assertThatThrownBy(scope::close)
                            .isInstanceOf(StructureViolationException.class)
                            .hasMessageContaining("a scope forks and closes under the scoped values"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void forking_under_a_later_binding_is_a_violation(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_FINDS);
        try (var scope = kind.open()) {
            ScopedValue.where(NAME, "x").run(() -> assertViolation(scope));
            var subtask = scope.fork(() -> "outside of the binding");
            scope.join();
            assertThat(subtask.get()).isEqualTo("outside of the binding");
        }
        ScopedValue.where(NAME, "x").run(() -> {
            try (var scope = kind.open()) {
                ScopedValue.where(NAME, "y").run(() -> assertViolation(scope));
                ScopedValue.where(OTHER, "y").run(() -> assertViolation(scope));
            }
        });
    }

    private static void assertViolation(StructuredTaskScope<Object> scope) {
        assertThatThrownBy(() -> scope.fork(() -> null)).isInstanceOf(StructureViolationException.class);
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(120)
    void recursive_forks_inherit_every_binding(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);
        int rounds = kind.factory.newThread(() -> {}).isVirtual() ? 20 : 1;
        for (int round = 0; round < rounds; round++) {
            AtomicInteger right = new AtomicInteger();
            ScopedValue.where(NAME, "x").call(() -> {
                try (StructuredTaskScope<Object> scope = kind.open()) {
                    scope.fork(() -> recursively(scope, right, 10));
                    scope.join();
                    return null;
                }
            });
            assertThat(right).hasValue(2_047);
        }
    }

    private static Object recursively(StructuredTaskScope<Object> scope, AtomicInteger right, int depth) {
        if (NAME.orElse("unbound").equals("x")) {
            right.incrementAndGet();
        }
        if (depth > 0) {
            scope.fork(() -> recursively(scope, right, depth - 1));
            scope.fork(() -> recursively(scope, right, depth - 1));
        }
        return depth;
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_by_a_subtask_inherits_while_the_owner_is_busy(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        CountDownLatch subtaskEnded = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(200);
        ScopedValue.where(NAME, "x").call(() -> {
            try (StructuredTaskScope<Object> scope = kind.open()) {
                scope.fork(() -> {
                    for (int i = 0; i < 200; i++) { // so many that ended threads are removed from the list
                        scope.fork(() -> {
                            seen.add(NAME.get());
                            ended.countDown();
                            return null;
                        });
                    }
                    subtaskEnded.countDown();
                    return null;
                });
                subtaskEnded.await(); // the owner does not join yet
                ended.await();
                scope.join();
                return null;
            }
        });

        assertThat(seen).hasSize(200).containsOnly("x");
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_within_a_binding_of_the_subtasks_own_throws_at_once(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_FINDS);
        CountDownLatch done = new CountDownLatch(1);
        try (StructuredTaskScope<String> scope = kind.open()) {
            var first = scope.fork(() -> {
                try {
                    ScopedValue.where(NAME, "own")
                            .run(() -> assertThatThrownBy(() -> scope.fork(() -> "never"))
                                    .isInstanceOf(StructureViolationException.class)
                                    .hasMessageContaining("within a binding of its own"));
                    return scope.fork(() -> "outside of it").task().call();
                } finally {
                    done.countDown();
                }
            });
            done.await(); // the owner does not join yet
            scope.join();

            assertThat(first.get()).isEqualTo("outside of it");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_by_a_nested_scopes_thread_inherits(Kind kind) throws Exception {
        kind.needsTheJdk(JDK_INHERITS);
        AtomicReference<Subtask<String>> busy = new AtomicReference<>();
        AtomicReference<Subtask<String>> parked = new AtomicReference<>();
        ScopedValue.where(NAME, "x").call(() -> {
            try (StructuredTaskScope<String> outer = kind.open();
                    StructuredTaskScope<String> inner = kind.open()) {
                Thread owner = Thread.currentThread();
                CountDownLatch forked = new CountDownLatch(1);
                inner.fork(() -> {
                    busy.set(outer.fork(NAME::get));
                    forked.countDown();
                    Tasks.awaitParkedAt(owner, "join");
                    parked.set(outer.fork(NAME::get));
                    return null;
                });
                forked.await();
                inner.join();
                outer.join();
                return null;
            }
        });

        assertThat(busy.get().get()).isEqualTo("x");
        assertThat(parked.get().get()).isEqualTo("x");
    }

    /** Runs an action in a subtask of a scope while the owner is busy or waits in join. */
    private static void inSubtask(Kind kind, boolean busy, Body body) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Thread owner = Thread.currentThread();
        ScopedValue.where(NAME, "x").where(OTHER, "y").call(() -> {
            try (var outer = new StructuredTaskScope<String>(kind.options().addScopedValue(NAME))) {
                var subtask = outer.fork(() -> {
                    try {
                        if (!busy) {
                            Tasks.awaitParkedAt(owner, "join");
                        }
                        body.run(outer);
                        return "ran";
                    } finally {
                        done.countDown();
                    }
                });
                if (busy) {
                    done.await();
                }
                outer.join();
                assertThat(subtask.state())
                        .as(() -> subtask.exception().toString())
                        .isEqualTo(Subtask.State.SUCCESS);
                return null;
            }
        });
    }

    @FunctionalInterface
    private interface Body {
        void run(StructuredTaskScope<String> outer) throws Exception;
    }

    // 2.6
    @ParameterizedTest
    @EnumSource
    void a_subtask_with_open_scopes_forks_outwards_with_every_value_whether_the_owner_waits_or_not(Kind kind)
            throws Exception {
        kind.needsTheJdk(JDK_INHERITS);
        for (boolean busy : new boolean[] {true, false}) {
            Queue<String> seen = new ConcurrentLinkedQueue<>();
            CountDownLatch ended = new CountDownLatch(6);
            inSubtask(kind, busy, outer -> {
                Callable<String> looks = () -> {
                    seen.add(NAME.get() + OTHER.orElse("lost"));
                    ended.countDown();
                    return "";
                };
                for (int i = 0; i < 2; i++) {
                    try (StructuredTaskScope<String> own = kind.open()) {
                        outer.fork(looks);
                        try (StructuredTaskScope<String> deeper = kind.open()) {
                            outer.fork(looks);
                            deeper.fork(() -> "");
                            deeper.join();
                        }
                        own.fork(() -> "");
                        own.join();
                    }
                    outer.fork(looks); // with no inner scope open
                }
                ended.await();
            });
            assertThat(seen).as("busy: %s", busy).hasSize(6).containsOnly("xy");
        }
    }

    // 2.6
    @ParameterizedTest
    @EnumSource
    void closing_a_scope_does_not_wait_for_what_its_owner_has_forked_into_an_outer_one(Kind kind) throws Exception {
        for (boolean busy : new boolean[] {true, false}) {
            CountDownLatch closed = new CountDownLatch(1);
            AtomicReference<Subtask<String>> forked = new AtomicReference<>();
            inSubtask(kind, busy, outer -> {
                try (StructuredTaskScope<String> own = kind.open()) {
                    forked.set(outer.fork(Tasks.after(closed, "value")));
                    own.fork(() -> "");
                    own.join();
                }
                try (StructuredTaskScope<String> another = kind.open()) {
                    var subtask = another.fork(() -> "of another");
                    another.join();
                    assertThat(subtask.get()).isEqualTo("of another");
                }
                closed.countDown();
            });
            assertThat(forked.get().get()).isEqualTo("value");
        }
    }

    // 2.6
    @ParameterizedTest
    @EnumSource
    void a_subtask_within_a_binding_of_its_own_cannot_fork_outwards_whether_the_owner_waits_or_not(Kind kind)
            throws Exception {
        kind.needsTheJdk(JDK_FINDS);
        for (boolean busy : new boolean[] {true, false}) {
            inSubtask(kind, busy, outer -> {
                ScopedValue.where(NAME, "own")
                        .run(() -> assertThatThrownBy(() -> outer.fork(() -> "never"))
                                .isInstanceOf(StructureViolationException.class)
                                .hasMessageContaining("within a binding of its own"));
                TaskContext.current().with(TENANT, "t").run(() -> {
                    try (StructuredTaskScope<String> own = kind.open()) {
                        assertThatThrownBy(() -> outer.fork(() -> "never"))
                                .isInstanceOf(StructureViolationException.class);
                        var subtask = own.fork(() -> TaskContext.current().get(TENANT));
                        own.join();
                        assertThat(subtask.get()).isEqualTo("t");
                    } catch (InterruptedException interrupt) {
                        throw new IllegalStateException(interrupt);
                    }
                });
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_with_a_scope_of_its_own_open_forks_outwards_with_registered_values(Kind kind) throws Exception {
        AtomicReference<Subtask<String>> forked = new AtomicReference<>();
        inSubtask(kind, true, outer -> {
            try (StructuredTaskScope<String> own = kind.open()) {
                forked.set(outer.fork(() -> NAME.orElse("none")));
                own.join();
            }
        });
        assertThat(forked.get().get()).isEqualTo("x");
    }

    @ParameterizedTest
    @EnumSource
    void registered_values_and_the_task_context_are_always_inherited(Kind kind) throws Exception {
        String seen = ScopedValue.where(NAME, "x")
                .call(() -> TaskContext.current().with(TENANT, "t").call(() -> {
                    try (var scope = new StructuredTaskScope<String>(
                            kind.options().addScopedValue(NAME).addScopedValue(OTHER))) {
                        var subtask = scope.fork(
                                () -> NAME.get() + TaskContext.current().get(TENANT) + OTHER.isBound());
                        scope.join();
                        return subtask.get();
                    }
                }));

        assertThat(seen).isEqualTo("xtfalse");
    }

    @ParameterizedTest
    @EnumSource
    void a_fork_while_the_owner_joins_under_other_bindings_succeeds(Kind kind) throws Exception {
        AtomicReference<Subtask<String>> forked = new AtomicReference<>();
        try (StructuredTaskScope<String> scope = kind.open()) {
            Thread owner = Thread.currentThread();
            scope.fork(() -> {
                Tasks.awaitParkedAt(owner, "join");
                forked.set(scope.fork(() -> "forked"));
                return null;
            });
            ScopedValue.where(NAME, "x").call(scope::join);
        }

        assertThat(forked.get().get()).isEqualTo("forked");
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_leaves_a_scope_open_affects_no_other_subtask(Kind kind) throws Exception {
        try (StructuredTaskScope<String> scope = kind.open()) {
            var careless = scope.fork(() -> {
                kind.open();
                return "left one open";
            });
            scope.join();
            var after = scope.fork(() -> "goes on");
            scope.join();

            assertThat(careless.get()).isEqualTo("left one open");
            assertThat(after.get()).isEqualTo("goes on");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_subtask_that_forked_may_be_interrupted_and_what_it_forked_is_not(Kind kind) throws Exception {
        AtomicBoolean disturbed = new AtomicBoolean();
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<Thread> forker = new AtomicReference<>();
        try (StructuredTaskScope<String> scope = kind.open()) {
            CountDownLatch forked = new CountDownLatch(1);
            var first = scope.fork(() -> {
                forker.set(Thread.currentThread());
                scope.fork(() -> {
                    try {
                        go.await();
                    } catch (InterruptedException interrupt) {
                        disturbed.set(true);
                    }
                    return null;
                });
                Thread.currentThread().interrupt();
                forked.countDown();
                return "done";
            });
            forked.await();
            Wait.until(() -> first.state() == Subtask.State.SUCCESS);
            assertIllegalState(first::get);
            forker.get().interrupt();
            go.countDown();
            scope.join();
        }

        assertThat(disturbed).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void join_does_not_wait_for_a_thread_that_terminated_without_running_its_subtask(Kind kind) throws Exception {
        kind.needsTheJdk("only the JDK's container detects the end of a thread");
        try (var scope = new StructuredTaskScope<String>(kind.options(run -> kind.factory.newThread(() -> {})))) {
            var subtask = scope.fork(() -> "never");
            scope.join();

            assertThat(subtask.state()).isEqualTo(Subtask.State.UNAVAILABLE);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"JDK_VIRTUAL", "PLAIN_VIRTUAL"})
    @Timeout(60)
    void a_fork_races_with_an_owner_that_stops_waiting(Kind kind) throws Exception {
        int forks = 10_000;
        AtomicInteger ran = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        try (StructuredTaskScope<Object> scope = kind.open()) {
            scope.fork(() -> {
                for (int i = 0; i < forks; i++) {
                    scope.fork(ran::incrementAndGet);
                }
                done.set(true);
                return null;
            });
            while (!done.get()) {
                try {
                    scope.joinUntil(Instant.now().plusNanos(20_000));
                } catch (TimeoutException expected) {
                    Thread.onSpinWait();
                }
            }
            scope.join();
        }

        assertThat(ran).hasValue(forks);
    }

    @ParameterizedTest
    @EnumSource
    void a_fresh_thread_may_bind_a_value_and_then_fork(Kind kind) throws Exception {
        AtomicReference<Object> seen = new AtomicReference<>();
        Thread fresh = kind.factory.newThread(() -> {
            try (StructuredTaskScope<String> scope = kind.open()) {
                ScopedValue.where(NAME, "x").run(() -> {});
                var subtask = scope.fork(() -> "forked");
                scope.join();
                seen.set(subtask.get());
            } catch (InterruptedException | RuntimeException failure) {
                seen.set(failure);
            }
        });
        fresh.start();
        fresh.join();

        assertThat(seen).hasValue("forked");
    }
}
