package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.checks.GroupModel.Rules;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares an executor with a simple model of it in games of random steps. Each failure names the seed of its game.
 *
 * <p>The system property {@code raddle.model.games} is the number of games for each set of rules.
 */
class GroupModelTest {

    private static final int GAMES = Integer.getInteger("raddle.model.games", 30);
    private static final int STEPS = 500;
    private static final double SHARE_ERROR = 0.02; // of the whole
    private static final int MANY = Integer.MAX_VALUE;

    private static final Rules ONE_GROUP = new Rules(1, 0, MANY, MANY, MANY, 20, 100, false);
    private static final Rules AT_THE_CAP = new Rules(5, 3, 12, 3, 5, 20, 100, false);

    static Stream<Arguments> rules() {
        return Stream.of(
                Arguments.of("one group", ONE_GROUP),
                Arguments.of("narrow queues and bulkheads", new Rules(4, 0, 9, 2, 3, 20, 100, false)),
                Arguments.of("no queue", new Rules(3, 2, MANY, MANY, 0, 20, 100, false)),
                Arguments.of("a global cap", AT_THE_CAP),
                Arguments.of("a wide global cap", new Rules(3, 5, MANY, MANY, MANY, 20, 100, false)),
                Arguments.of("no idle groups", new Rules(4, 3, MANY, MANY, 6, 0, 100, false)),
                Arguments.of("two idle groups", new Rules(6, 0, MANY, MANY, 6, 20, 2, false)),
                Arguments.of("reused threads", new Rules(3, 3, MANY, MANY, 6, 20, 100, true)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void an_executor_behaves_like_the_model(String name, Rules rules) {
        play(rules, rules);
    }

    static Stream<Arguments> othersThanAtTheCap() {
        return Stream.of(
                Arguments.of("one permit of the cap less", new Rules(5, 2, 12, 3, 5, 20, 100, false)),
                Arguments.of("one permit of the cap more", new Rules(5, 4, 12, 3, 5, 20, 100, false)),
                Arguments.of("one place less in all queues", new Rules(5, 3, 11, 3, 5, 20, 100, false)),
                Arguments.of("a narrower bulkhead", new Rules(5, 3, 12, 2, 5, 20, 100, false)),
                Arguments.of("a wider bulkhead", new Rules(5, 3, 12, 4, 5, 20, 100, false)),
                Arguments.of("one place more", new Rules(5, 3, 12, 3, 6, 20, 100, false)),
                Arguments.of("a longer time to live", new Rules(5, 3, 12, 3, 5, 25, 100, false)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("othersThanAtTheCap")
    void an_executor_that_differs_from_the_model_is_detected(String name, Rules others) {
        assertThatThrownBy(() -> play(AT_THE_CAP, others)).hasMessageStartingWith("seed ");
    }

    @Test
    void groups_with_a_backlog_share_the_cap_by_weight_and_time() {
        for (long seed = 0; seed < GAMES; seed++) {
            ModelShares shares = new ModelShares(seed);

            shares.run();

            assertThat(shares.largestError()).as("%s", shares).isLessThan(SHARE_ERROR);
        }
    }

    @Test
    void a_group_with_another_share_than_the_model_expects_is_detected() {
        for (long seed = 0; seed < GAMES; seed++) {
            ModelShares shares = new ModelShares(seed);
            shares.changeWeightInExecutorOnly();

            shares.run();

            assertThat(shares.largestError()).as("%s", shares).isGreaterThan(SHARE_ERROR);
        }
    }

    private static void play(Rules rules, Rules believed) {
        for (long seed = 0; seed < GAMES; seed++) {
            new GroupGame(rules, believed, seed).play(STEPS);
        }
    }
}
