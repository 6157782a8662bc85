package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.redis.FaultPlan.Fault;
import dev.raddle.redis.FaultPlan.Step;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FaultPlanTest {

    private static List<Step> steps(long seed, int count) {
        FaultPlan plan = new FaultPlan(seed, EnumSet.allOf(Fault.class), 3);
        return Stream.generate(plan::next).limit(count).toList();
    }

    @Test
    void a_seed_gives_the_same_plan_again() {
        assertThat(steps(42, 100)).isEqualTo(steps(42, 100)).isNotEqualTo(steps(43, 100));
    }

    @Test
    void each_round_has_every_fault_once() {
        int round = Fault.values().length;
        assertThat(steps(42, 2 * round).subList(round, 2 * round))
                .extracting(Step::fault)
                .containsExactlyInAnyOrder(Fault.values());
    }
}
