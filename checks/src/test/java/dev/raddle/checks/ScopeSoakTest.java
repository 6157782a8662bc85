package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Nested scopes under random use: tasks that return, throw, wait for an interrupt, submit more tasks and open scopes
 * of their own; cancels, timeouts, deadlines, retries, limits and every failure policy.
 *
 * <p>When a scope is closed, every task that was submitted to it has ended once, the scope's metrics agree, and none
 * of its tasks runs; at the end, the owner has left every scope and is not interrupted. Thirty thousand tasks are
 * spread over the settings, or the number of a system property:
 *
 * <pre>{@code
 * mvn test -pl checks -am -Dtest=ScopeSoakTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Draddle.soak.scope.tasks=1000000
 * }</pre>
 */
class ScopeSoakTest {

    private static final int TASKS = Integer.getInteger("raddle.soak.scope.tasks", 30_000);

    /** A scheduler for the tasks of the outermost scopes. */
    record Setting(String name, Supplier<Scheduler> scheduler, Runnable end) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Setting> settings() {
        GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(8).build());
        return List.of(
                new Setting("virtual threads", Scheduler::virtualThreads, () -> {}),
                new Setting("one pool for all", poolOf(4), () -> {}),
                new Setting("a pool by priority", () -> Scheduler.priority(3), () -> {}),
                new Setting("through a group", () -> executor.scheduler("soak"), executor::close));
    }

    private static Supplier<Scheduler> poolOf(int threads) {
        Scheduler pool = Scheduler.fixed(threads);
        return () -> pool;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    @Timeout(value = 24, unit = TimeUnit.HOURS)
    void every_task_of_every_scope_ends_once_and_is_counted_once(Setting setting) throws InterruptedException {
        List<String> violations = new ArrayList<>();
        long tasks = 0;
        long thrown = 0;
        for (int seed = 0; tasks < TASKS / settings().size() && violations.isEmpty(); seed++) {
            ScopeSoak soak = new ScopeSoak(setting.scheduler(), seed);
            soak.run();
            tasks += soak.tasks();
            thrown += soak.thrown();
            violations.addAll(soak.violations());
        }
        setting.end().run();

        assertThat(violations).isEmpty();
        assertThat(thrown).as("waits that threw planned exceptions").isPositive();
    }
}
