package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.checks.PoolGame.Rules;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares a pool with a simple model of it in games of random steps: submit, end a task, remove, change sizes and
 * capacity, shut down. Each failure names the seed of its game. The system property {@code raddle.model.games} is the
 * number of games for each set of rules.
 */
@Timeout(value = 24, unit = TimeUnit.HOURS)
class PoolModelTest {

    private static final int GAMES = Integer.getInteger("raddle.model.games", 30);
    private static final int STEPS = 200;
    private static final Rules SMALL = new Rules(2, 4, 3);

    static Stream<Arguments> rules() {
        return Stream.of(
                Arguments.of("fixed", new Rules(2, 2, 100)),
                Arguments.of("small", SMALL),
                Arguments.of("no core", new Rules(0, 3, 2)),
                Arguments.of("one thread", new Rules(1, 1, 1)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rules")
    void a_pool_behaves_like_the_model(String name, Rules rules) {
        play(rules, rules);
    }

    static Stream<Arguments> others() {
        return Stream.of(
                Arguments.of("a smaller core", new Rules(1, 4, 3)),
                Arguments.of("one thread less", new Rules(2, 3, 3)),
                Arguments.of("one place more", new Rules(2, 4, 4)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("others")
    void a_pool_that_differs_from_the_model_is_detected(String name, Rules others) {
        assertThatThrownBy(() -> play(SMALL, others)).hasMessageStartingWith("seed ");
    }

    private static void play(Rules rules, Rules believed) {
        for (long seed = 0; seed < GAMES; seed++) {
            new PoolGame(rules, believed, seed).play(STEPS);
        }
    }
}
