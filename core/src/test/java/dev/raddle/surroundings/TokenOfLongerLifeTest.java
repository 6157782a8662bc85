package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.Channel;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.structured.StructuredTaskScope;
import dev.raddle.task.CancellationToken;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.Wait;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is registered at a token or a task that lives longer is released with what it was registered for. */
@Timeout(120)
class TokenOfLongerLifeTest {

    private static final int REQUESTS = 100;

    private final List<WeakReference<Object>> sockets = Collections.synchronizedList(new ArrayList<>());
    private final List<String> called = Collections.synchronizedList(new ArrayList<>());

    /** Returns an action that refers to a new object. */
    private Runnable closing() {
        Object socket = new byte[10_000];
        sockets.add(new WeakReference<>(socket));
        return () -> called.add("closed " + socket);
    }

    private void awaitReleased() {
        Wait.until(() -> {
            System.gc();
            return sockets.stream().allMatch(each -> each.get() == null);
        });
    }

    static ScopeOptions options(boolean virtual) {
        ScopeOptions defaults = ScopeOptions.defaults();
        return virtual ? defaults : defaults.withScheduler(Runnable::run);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_registration_of_a_task_ends_with_the_task(boolean virtual) throws Exception {
        try (ThreadScope server = ThreadScope.open("server", options(virtual))) {
            CancellationToken token = server.token();
            for (int request = 0; request < REQUESTS; request++) {
                server.submit(() -> token.whenCancelled(closing())).await();
            }
            awaitReleased();
            server.cancel("over");
        }
        assertThat(called).isEmpty();
    }

    @Test
    void a_registration_of_a_task_at_the_token_of_an_outer_scope_ends_with_the_task() throws Exception {
        try (ThreadScope server = ThreadScope.open("server")) {
            CancellationToken token = server.token();
            for (int request = 0; request < REQUESTS; request++) {
                try (ThreadScope inner = ThreadScope.open("request")) {
                    inner.submit(() -> token.whenCancelled(closing())).await();
                    TaskSpec<Object> timed = TaskSpec.<Object>named("timed", () -> token.whenCancelled(closing()));
                    inner.submit(timed.timeout(Duration.ofMinutes(1))).await();
                }
            }
            awaitReleased();
            server.cancel("over");
        }
        assertThat(called).isEmpty();
    }

    @Test
    void a_registration_is_in_force_while_its_task_runs() throws Exception {
        try (ThreadScope server = ThreadScope.open("server")) {
            CountDownLatch registered = new CountDownLatch(1);
            CountDownLatch closed = new CountDownLatch(1);
            server.submit(() -> {
                server.token().whenCancelled(closed::countDown);
                registered.countDown();
                Wait.uninterruptibly(closed); // as an operation that ignores interrupts
                called.add("closed");
            });
            registered.await();
            server.cancel("the client has gone");
        }
        assertThat(called).containsExactly("closed");
    }

    @Test
    void a_task_that_runs_inside_another_ends_only_its_own_registrations() throws Exception {
        try (ThreadScope server = ThreadScope.open("server", options(false))) {
            server.submit(() -> {
                server.token().whenCancelled(() -> called.add("outer"));
                server.submit(() -> server.token().whenCancelled(() -> called.add("inner")));
                server.cancel("over");
            });
        }
        assertThat(called).containsExactly("outer");
    }

    @Test
    void a_registration_outside_of_a_task_is_in_force_until_it_is_closed() throws Exception {
        try (ThreadScope server = ThreadScope.open("server");
                GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build())) {
            for (int request = 0; request < REQUESTS; request++) {
                groups.call("tenant", () -> {
                    try (var onCancel = server.token().whenCancelled(closing())) {
                        return onCancel.hashCode();
                    }
                });
            }
            CancellationToken.Registration twice = server.token().whenCancelled(closing());
            twice.close();
            twice.close();
            awaitReleased();
            server.token().whenCancelled(() -> called.add("kept"));
            server.cancel("over");
            twice.close();
            server.token().whenCancelled(() -> called.add("at once")).close();
        }
        assertThat(called).containsExactly("kept", "at once");
    }

    @Test
    void a_registration_of_a_task_may_be_closed_before_the_task_ends() throws Exception {
        try (ThreadScope server = ThreadScope.open("server")) {
            server.submit(() -> {
                        for (int round = 0; round < REQUESTS; round++) {
                            server.token().whenCancelled(closing()).close();
                        }
                        awaitReleased();
                        return null;
                    })
                    .await();
        }
        assertThat(sockets).hasSize(REQUESTS);
    }

    @Test
    void a_registration_that_a_subtask_inside_a_task_has_closed_retains_nothing() throws Exception {
        try (ThreadScope server = ThreadScope.open("server")) {
            server.submit(() -> {
                        for (int request = 0; request < REQUESTS; request++) {
                            try (var scope = StructuredTaskScope.open()) {
                                scope.fork(() -> {
                                    sockets.add(new WeakReference<>(Thread.currentThread()));
                                    server.token().whenCancelled(closing()).close();
                                });
                                scope.join();
                            }
                        }
                        awaitReleased();
                        return null;
                    })
                    .await();
        }
        assertThat(sockets).hasSize(2 * REQUESTS);
    }

    @Test
    void a_channel_that_its_producer_closes_is_not_retained_by_it() throws Exception {
        try (ThreadScope server = ThreadScope.open("server")) {
            CountDownLatch over = new CountDownLatch(1);
            Task<?> hub = server.submit(() -> {
                over.await();
                return null;
            });
            for (int request = 0; request < REQUESTS; request++) {
                Channel<Object> channel = Channel.bounded(1).closeAfter(hub);
                sockets.add(new WeakReference<>(channel));
                channel = null;
            }
            awaitReleased();
            Channel<Object> open = Channel.bounded(1).closeAfter(hub);
            over.countDown();
            assertThat(open).isEmpty(); // which waits until it is closed
        }
    }
}
