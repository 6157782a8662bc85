package dev.raddle.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.ContextPropagator;
import dev.raddle.testing.StepScheduler;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshotFactory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SnapshotPropagatorTest {

    private static final String KEY = "test.user";

    private final ThreadLocal<String> user = new ThreadLocal<>();
    private final StepScheduler steps = new StepScheduler();

    @BeforeEach
    void register() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, user);
    }

    @AfterEach
    void unregister() {
        ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
    }

    private static GroupPolicy.Builder with(ContextPropagator propagator) {
        return GroupPolicy.builder().addPropagator(propagator).closeTimeout(Duration.ZERO);
    }

    @Test
    void a_task_sees_the_values_of_its_submitter() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                with(SnapshotPropagator.create()).build())) {
            user.set("u-17");
            TaskHandle<String> handle = executor.submit("a", "t1", user::get);
            user.set("u-18");

            assertThat(handle.await().value()).isEqualTo("u-17");
        }
    }

    @Test
    void a_task_sees_no_value_of_its_thread_and_the_thread_has_its_values_again_afterwards() {
        AtomicReference<String> seen = new AtomicReference<>("nothing");
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                with(SnapshotPropagator.create()).scheduler(key -> steps).build())) {
            executor.submit("a", "t1", () -> {
                seen.set(user.get());
                user.set("left behind");
                return "value";
            });
            user.set("thread");
            steps.runAll();
        }

        assertThat(seen.get()).isNull();
        assertThat(user.get()).isEqualTo("thread");
    }

    @Test
    void a_factory_may_capture_other_contexts() throws Exception {
        ThreadLocal<String> tenant = new ThreadLocal<>();
        ContextRegistry contexts = new ContextRegistry();
        contexts.registerThreadLocalAccessor("test.tenant", tenant);
        SnapshotPropagator propagator = SnapshotPropagator.of(
                ContextSnapshotFactory.builder().contextRegistry(contexts).build());
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(with(propagator).build())) {
            user.set("u-17");
            tenant.set("t-1");

            assertThat(executor.submit("a", "t1", () -> tenant.get() + ", " + user.get())
                            .await()
                            .value())
                    .isEqualTo("t-1, null");
        }
    }
}
