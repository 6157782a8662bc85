package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.OwnerChange.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChangesTest {

    private final Changes changes = new Changes();

    @Test
    void of_an_adaptive_limit_steps_count_that_add_up_to_twice_or_half_of_it() {
        for (int limit = 10; limit < 20; limit++) {
            String after = Integer.toString(limit + 1);
            changes.add("e", new OwnerChange("a", Kind.LIMIT, true, Integer.toString(limit), after), 1);
        }

        Changes.Row row = changes.latest("e", "a", "limit");
        assertThat(changes.latest(10, _ -> true)).containsExactly(row);
        assertThat(row.who()).isEqualTo("adaptive");
        assertThat(row.before()).isEqualTo("10");
        assertThat(row.after()).isEqualTo("20");
    }

    @Test
    void a_change_of_a_breaker_by_its_tasks_is_one_of_the_breaker() {
        changes.add("e", new OwnerChange("a", Kind.BREAKER, true, "closed", "open"), 1);

        Changes.Row row = changes.latest("e", "a", "breaker");
        assertThat(changes.latest(10, _ -> true)).containsExactly(row);
        assertThat(row.by()).isEqualTo("its breaker");
        assertThat(row.after()).isEqualTo("open");
    }

    @Test
    void a_limit_that_is_another_one_without_a_call_was_decided_by_a_resolver() {
        AtomicInteger limit = new AtomicInteger(8);
        Activity activity = new Activity("e", new Failures(), changes, () -> true);
        Groups groups = new Groups(_ -> activity, new Failures(), new TaskRefs(), changes);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .concurrencyResolver(_ -> limit.get())
                .addListener(activity)
                .build())) {
            groups.executors.add("e", executor);
            executor.submit("a", "1", () -> 1).join();
            executor.pauseGroup("a"); // it is shown
            groups.sample(1_000);
            limit.set(1);
            executor.evictGroup("a");
            executor.submit("a", "2", () -> 1).join();
            executor.pauseGroup("a");

            groups.sample(2_000);
            groups.sample(3_000);
            groups.sample(4_000);
        }

        Changes.Row row = changes.latest("e", "a", "limit");
        assertThat(row.who()).isEqualTo("resolver");
        assertThat(row.before()).isEqualTo("8");
        assertThat(row.after()).isEqualTo("1");
    }
}
