package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random runs that are interrupted after every record, and continued, against the same runs uninterrupted. */
@Timeout(600)
class RunsContinueTest {

    private static final int PLANS = Integer.getInteger("raddle.flow.continued", 2_000);
    private static final Long SEED = Long.getLong("raddle.flow.seed");

    @Test
    void a_run_that_is_interrupted_after_any_record_ends_as_if_it_had_not_been() throws Exception {
        long begin = SEED == null ? 0 : SEED;
        long end = SEED == null ? PLANS : SEED + 1;
        for (long seed = begin; seed < end; seed++) {
            ContinuedRun whole = ContinuedRun.whole(seed);
            Random random = new Random(seed);
            for (int cut = 0; cut < whole.records() - 1; cut++) { // after the last one another try would begin
                ContinuedRun.Result once = ContinuedRun.interrupted(seed, cut);
                assertThat(once)
                        .as("interrupted after record %s of %s", cut, whole)
                        .isEqualTo(whole.result());
                int left = whole.records() - cut - 2;
                if (left <= 0) {
                    continue;
                }
                int again = random.nextInt(left);
                ContinuedRun.Result twice = ContinuedRun.interrupted(seed, cut, again);
                assertThat(twice)
                        .as("interrupted after record %s and %s more of %s", cut, again, whole)
                        .isEqualTo(whole.result());
            }
        }
    }
}
