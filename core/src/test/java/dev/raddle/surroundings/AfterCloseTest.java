package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.LeasedThreads;
import dev.raddle.time.TimeSource;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** After everything is closed, nothing of Raddle is reachable from the JVM. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AfterCloseTest {

    private final LeasedThreads leased = new LeasedThreads();

    /** What an application does with Raddle. Runs in a class loader of its own. */
    public static final class Application implements Runnable {
        @Override
        public void run() {
            TimeSource.system().after(Duration.ofHours(1), () -> {}).cancel();
            try (GroupExecutor executor =
                    GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
                TaskSpec<Integer> late = TaskSpec.named("late", () -> {
                    Thread.sleep(Duration.ofDays(1));
                    return 1;
                });
                executor.submit("key", late.timeout(Duration.ofMillis(1))).join();
            }
        }
    }

    @Test
    void nothing_keeps_the_class_loader_of_raddle_when_an_application_is_gone() throws Exception {
        ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
        WeakReference<ClassLoader> loader = new WeakReference<>(deployed(), collected);

        while (collected.remove(200) == null) {
            System.gc();
        }

        assertThat(loader.get()).isNull();
    }

    private static ClassLoader deployed() throws Exception {
        URL[] path = {Jvm.classes().toUri().toURL(), Jvm.testClasses().toUri().toURL()};
        ClassLoader loader = new URLClassLoader(path, null); // the platform's loader knows the module under test
        Class<?> application = loader.loadClass(Application.class.getName());
        assertThat(application).isNotSameAs(Application.class);
        Runnable run = (Runnable) application.getConstructor().newInstance();
        Thread thread = Thread.ofPlatform().start(run);
        thread.join();
        return loader;
    }

    @Test
    void a_group_leases_its_scheduler_until_it_is_removed() throws Exception {
        GroupPolicy policy = GroupPolicy.builder().scheduler(key -> leased).build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", () -> 1).await();
            executor.submit("b", () -> 1).await();
            executor.evictGroup("a");
            executor.submit("a", () -> 1).await();

            assertThat(leased.open()).isEqualTo(2);
        }
        assertThat(leased.open()).isZero();
    }

    @Test
    void a_flow_leases_the_scheduler_of_its_compute_nodes_until_it_has_ended() throws Exception {
        FlowBuilder<Void> flow = FlowPlan.define("flow");
        FlowPlan<Void, Integer> plan =
                flow.returning(flow.node("compute", () -> leased.open()).compute());

        assertThat(plan.run(null, RunOptions.defaults().withComputeScheduler(leased))
                        .value())
                .isOne();

        assertThat(leased.open()).isZero();
        assertThat(leased.taken()).isOne();
    }
}
