package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.RandomFlowPlay.Mode;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The engine agrees with the reference on random flows.
 *
 * <p>The system property {@code raddle.flow.graphs} sets the number of flows; a quarter as many are interrupted and
 * resumed. Each failure names its seed; {@code raddle.flow.seed} runs this seed only.
 */
class RandomFlowsAgreeWithTheReferenceTest {

    private static final int GRAPHS = Integer.getInteger("raddle.flow.graphs", 2_000);
    private static final Long SEED = Long.getLong("raddle.flow.seed");
    private static final int MOST_ATTEMPTS_TO_SIMPLIFY = 2_000;

    private static RandomFlowPlay.Pools pools;

    @BeforeAll
    static void open() {
        pools = new RandomFlowPlay.Pools(
                Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory()), new ForkJoinPool(2));
    }

    @AfterAll
    static void close() {
        pools.oneThread().shutdownNow();
        pools.forkJoin().shutdownNow();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Mode.class, mode = EnumSource.Mode.EXCLUDE, names = "STEPPER")
    void random_flows_agree_with_the_reference(Mode mode) {
        play(RandomFlowPlay::play, mode, GRAPHS);
    }

    // a recorded node is not run again, and all others behave as after its success
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Mode.class, mode = EnumSource.Mode.EXCLUDE, names = "STEPPER")
    void random_flows_that_were_interrupted_and_resumed_agree_with_the_reference(Mode mode) {
        play(RandomFlowPlay::resume, mode, GRAPHS / 4);
    }

    // as many as 100 000 by the system property; one after the other in one thread, each in some microseconds
    @Test
    void steppers_of_random_flows_agree_with_the_reference() {
        play((flow, mode, random, unused) -> RandomFlowPlay.step(flow, random), Mode.STEPPER, 20 * GRAPHS);
    }

    @Test
    void equal_reports_of_random_flows_give_equal_steps() {
        play(
                (flow, mode, random, unused) -> {
                    long seed = random.nextLong();
                    String steps = RandomFlowPlay.step(flow, new Random(seed));
                    assertThat(RandomFlowPlay.step(flow, new Random(seed))).isEqualTo(steps);
                },
                Mode.STEPPER,
                GRAPHS);
    }

    /** A way to run a flow. */
    private interface Game {
        void play(RandomFlow flow, Mode mode, Random random, RandomFlowPlay.Pools pools) throws Exception;
    }

    private static void play(Game game, Mode mode, int graphs) {
        int modes = mode == Mode.STEPPER ? 1 : Mode.values().length - 1;
        long begin = SEED == null ? 0 : SEED;
        long end = SEED == null ? Math.ceilDiv(graphs, modes) : SEED + 1;
        for (long seed = begin; seed < end; seed++) {
            RandomFlow flow = RandomFlow.of(new Random(seed));
            Throwable failure = play(game, flow, mode, seed);
            if (failure != null) {
                throw new AssertionError(report(game, flow, mode, seed, failure), failure);
            }
        }
    }

    private static Throwable play(Game game, RandomFlow flow, Mode mode, long seed) {
        try {
            game.play(flow, mode, new Random(~seed), pools);
            return null;
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        } catch (Throwable failure) {
            return failure;
        }
    }

    /** Simplifies the flow as long as it still fails, and describes the result. */
    private static String report(Game game, RandomFlow flow, Mode mode, long seed, Throwable failure) {
        RandomFlow simplest = flow;
        Throwable last = failure;
        int attempts = 0;
        boolean simpler = !String.valueOf(failure.getMessage()).contains("nothing happens");
        while (simpler && attempts < MOST_ATTEMPTS_TO_SIMPLIFY) {
            simpler = false;
            for (RandomFlow candidate : simplest.simpler()) {
                Throwable other = play(game, candidate, mode, seed);
                attempts++;
                if (other != null && kind(other).equals(kind(failure))) {
                    simplest = candidate;
                    last = other;
                    simpler = true;
                    break;
                }
            }
        }
        return "seed " + seed + ", " + mode + ": " + last.getMessage() + "\n" + simplest + "\nfound in: "
                + failure.getMessage() + "\n" + flow;
    }

    /** Returns a failure without names and numbers, so that simplification does not lead to a different failure. */
    private static String kind(Throwable failure) {
        return String.valueOf(failure.getMessage()).replaceAll("\\[.*", "").replaceAll("\\d+", "0");
    }

    @Test
    void a_seed_determines_the_flow() {
        assertThat(RandomFlow.of(new Random(7))).isEqualTo(RandomFlow.of(new Random(7)));
    }
}
