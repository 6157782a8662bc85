package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.LimitChange;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AdaptiveLimitExampleTest {

    @Test
    void the_limit_changes_and_each_change_has_a_reason() {
        List<LimitChange> changes = AdaptiveLimitExample.changes(2_000, () -> null);

        assertThat(changes).isNotEmpty().allSatisfy(change -> {
            assertThat(change.groupKey()).isEqualTo("server");
            assertThat(change.after()).isBetween(1, 50);
            assertThat(change.reason()).isNotEmpty();
        });
    }
}
