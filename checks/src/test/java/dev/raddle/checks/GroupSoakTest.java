package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.checks.Soak.Setting;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Executors under random use by several threads: submit, complete, cancel, call, evict, shut down a group, pause,
 * resume, change limits and the cap, queue timeouts, removal of idle groups, and a shutdown at the end of each.
 *
 * <p>At no time do more tasks of a group run than its limit allows, or more in all than the cap; every handle ends;
 * submitted = succeeded + failed + cancelled + rejected; no task runs twice, or after cancel returned true or it was
 * rejected; tasks of a group with one permit begin in order; no interrupt reaches another task; in the end no permit
 * is held. A million operations are spread over the settings, or the number of a system property:
 *
 * <pre>{@code
 * mvn test -pl checks -am -Dtest=GroupSoakTest -Dsurefire.failIfNoSpecifiedTests=false \
 *     -Draddle.soak.operations=100000000
 * }</pre>
 *
 * <p>The totals are printed to {@code checks/target/surefire-reports/dev.raddle.checks.GroupSoakTest-output.txt}.
 */
class GroupSoakTest {

    private static final long OPERATIONS = Long.getLong("raddle.soak.operations", 1_000_000);
    private static final long OPERATIONS_PER_EXECUTOR = 25_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    static List<Setting> settings() {
        return List.of(
                new Setting("no cap", 16, 0, 20, false, rules -> rules.idleGroupTtl(Duration.ofMillis(3))),
                new Setting(
                        "a cap",
                        16,
                        5,
                        20,
                        false,
                        rules -> rules.idleGroupTtl(Duration.ofMillis(3)).globalQueueThreshold(200)),
                new Setting(
                        "threads used again",
                        8,
                        4,
                        50,
                        false,
                        rules -> rules.reuseThreads(true).maxIdleGroups(2)),
                new Setting("no idle groups", 40, 6, 20, false, rules -> rules.idleGroupTtl(Duration.ZERO)),
                new Setting("changing limits", 8, 0, 30, true, rules -> rules.idleGroupTtl(Duration.ofMillis(2))),
                new Setting(
                        "changing limits and cap",
                        8,
                        4,
                        30,
                        true,
                        rules -> rules.idleGroupTtl(Duration.ofMillis(2)).reuseThreads(true)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    @Timeout(value = 24, unit = TimeUnit.HOURS)
    void nothing_is_lost_and_no_limit_is_exceeded(Setting setting) throws InterruptedException {
        long operations = OPERATIONS / settings().size();
        long start = System.nanoTime();
        long performed = 0;
        List<String> violations = new ArrayList<>();
        Map<TaskStatus, Long> ends = new EnumMap<>(TaskStatus.class);
        for (long seed = 0; performed < operations && violations.isEmpty(); seed++) {
            Soak soak = new Soak(setting, PATIENCE);
            performed += soak.run(Math.min(operations - performed, OPERATIONS_PER_EXECUTOR), seed);
            violations.addAll(soak.violations());
            soak.ends().forEach((status, count) -> ends.merge(status, count, Long::sum));
        }
        System.out.printf(
                "%s: %,d operations in %.1f s, %d violations; tasks %s%n",
                setting, performed, (System.nanoTime() - start) / 1e9, violations.size(), ends);

        assertThat(violations).isEmpty();
    }

    @Test
    void an_executor_that_exceeds_the_cap_by_one_is_detected() throws InterruptedException {
        Soak soak = new Soak(new Setting("too wide", 8, 4, 20, false, rules -> rules.globalMaxInFlight(5)), PATIENCE);

        soak.run(OPERATIONS_PER_EXECUTOR, 0);

        assertThat(soak.violations()).anyMatch(violation -> violation.contains("the global cap was 4"));
    }

    @Test
    void a_group_that_exceeds_its_limit_by_one_is_detected() throws InterruptedException {
        assertThat(violationsWithLimitOfGroup0(2, false))
                .allMatch(violation -> violation.contains("in group-0"))
                .anyMatch(violation -> violation.contains("2 permits taken by running tasks, the limit was 1"));
    }

    @Test
    void a_group_that_exceeds_all_its_changing_limits_is_detected() throws InterruptedException {
        assertThat(violationsWithLimitOfGroup0(9, true))
                .allMatch(violation -> violation.contains("in group-0"))
                .anyMatch(violation -> violation.contains("permits taken by running tasks, the limit was"));
    }

    /** Uses an executor whose limit of one group differs from the limit that the soak expects. */
    private static List<String> violationsWithLimitOfGroup0(int limit, boolean limitsChange)
            throws InterruptedException {
        Map<String, Integer> limits = Map.of("group-0", limit);
        Soak soak = new Soak(
                new Setting("wide", 8, 0, 20, limitsChange, rules -> rules.perGroupMaxConcurrency(limits)), PATIENCE);
        soak.run(OPERATIONS_PER_EXECUTOR, 0);
        return soak.violations();
    }

    @Test
    void an_executor_that_loses_a_task_is_detected() throws InterruptedException {
        AtomicInteger placed = new AtomicInteger();
        Scheduler loses = task -> {
            if (placed.incrementAndGet() % 500 != 0) {
                Scheduler.virtualThreads().execute(task);
            }
        };
        Soak soak = new Soak(
                new Setting("forgetful", 8, 0, 20, false, rules -> rules.scheduler(key -> loses)),
                Duration.ofSeconds(2));

        soak.run(OPERATIONS_PER_EXECUTOR, 0);

        assertThat(soak.violations()).anyMatch(violation -> violation.contains("has not ended"));
    }
}
