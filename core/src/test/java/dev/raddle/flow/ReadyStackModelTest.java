package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The protocol of {@link ReadyStack}, with a scheduler that counts its threads, played in all orders of its atomic steps. A node
 * that begins may block for ever. A node is lost if nothing can happen any more, a thread is free, and the node lies there.
 */
@Timeout(60)
class ReadyStackModelTest {

    /** What a thread does next. The last three have no next step of their own. */
    private enum Step {
        COUNT_DOWN, // it has come
        TAKE,
        LOOK, // whether it leaves nodes
        CALL_ANOTHER,
        RUN,
        PUSH, // a node that its own has made ready, while it keeps another
        CALL,
        DRAIN,
        BLOCKED,
        FREE,
        GONE
    }

    private enum Bug {
        NONE,
        TAKES_BEFORE_IT_COUNTS_DOWN,
        CALLS_BEFORE_IT_PUSHES,
        LEAVES_NODES_WITHOUT_A_CALL
    }

    /**
     * @param nodes that may still become ready
     * @param stack how many nodes lie there
     * @param coming what ReadyStack counts
     * @param calls that the scheduler has accepted and that no thread has come for
     * @param threads the next steps, of those of the scheduler and of one from outside
     */
    private record State(int nodes, int stack, int coming, int calls, List<Step> threads) {

        State with(int thread, Step next) {
            List<Step> changed = new ArrayList<>(threads);
            changed.set(thread, next);
            return new State(nodes, stack, coming, calls, changed);
        }

        State makingReady(int more) {
            return new State(nodes - more, stack, coming, calls, threads);
        }

        State pushing(int by) {
            return new State(nodes, stack + by, coming, calls, threads);
        }

        State counting(int by) {
            return new State(nodes, stack, coming + by, calls, threads);
        }

        State calling(int by) {
            return new State(nodes, stack, coming, calls + by, threads);
        }
    }

    private static State begin(int threads, int nodes) {
        Step[] steps = new Step[threads + 1];
        Arrays.fill(steps, Step.FREE);
        steps[threads] = Step.PUSH; // whoever starts the run
        return new State(nodes - 1, 0, 0, 0, List.of(steps));
    }

    /** Returns all states that one step leads to. */
    private static List<State> next(State state, int limit, Bug bug) {
        List<State> all = new ArrayList<>();
        for (int thread = 0; thread < state.threads().size(); thread++) {
            boolean isOutside = thread == state.threads().size() - 1;
            boolean takesFirst = bug == Bug.TAKES_BEFORE_IT_COUNTS_DOWN;
            switch (state.threads().get(thread)) {
                case FREE -> {
                    if (state.calls() > 0) {
                        all.add(state.calling(-1).with(thread, takesFirst ? Step.TAKE : Step.COUNT_DOWN));
                    }
                }
                case COUNT_DOWN -> all.add(state.counting(-1).with(thread, takesFirst ? Step.FREE : Step.TAKE));
                case TAKE -> {
                    Step none = takesFirst ? Step.COUNT_DOWN : Step.FREE;
                    State counted = takesFirst && state.stack() > 0 ? state.counting(-1) : state;
                    all.add(state.stack() > 0 ? counted.pushing(-1).with(thread, Step.LOOK) : state.with(thread, none));
                }
                case LOOK -> {
                    boolean calls = state.stack() > 0 && bug != Bug.LEAVES_NODES_WITHOUT_A_CALL;
                    all.add(state.with(thread, calls ? Step.CALL_ANOTHER : Step.RUN));
                }
                case CALL_ANOTHER -> all.add(called(state, limit).with(thread, Step.RUN));
                case RUN -> {
                    all.add(state.with(thread, Step.BLOCKED));
                    all.add(state.with(thread, Step.DRAIN));
                    if (state.nodes() > 1) { // one for this thread, and one for another
                        boolean callsFirst = bug == Bug.CALLS_BEFORE_IT_PUSHES;
                        all.add(state.makingReady(2).with(thread, callsFirst ? Step.CALL : Step.PUSH));
                    }
                }
                case PUSH -> {
                    State pushed = state.pushing(1);
                    boolean hasCalled = bug == Bug.CALLS_BEFORE_IT_PUSHES && !isOutside;
                    all.add(pushed.with(thread, hasCalled ? Step.RUN : Step.CALL));
                }
                case CALL -> {
                    boolean pushes = bug == Bug.CALLS_BEFORE_IT_PUSHES && !isOutside;
                    Step then = isOutside ? Step.GONE : pushes ? Step.PUSH : Step.RUN;
                    State called = called(state, limit);
                    all.add(called.with(thread, then));
                    if (isOutside && state.nodes() > 0) {
                        all.add(called.makingReady(1).with(thread, Step.PUSH));
                    }
                }
                case DRAIN ->
                    all.add(
                            state.stack() > 0
                                    ? state.pushing(-1).with(thread, Step.RUN)
                                    : state.with(thread, Step.FREE));
                case BLOCKED, GONE -> {}
            }
        }
        return all;
    }

    private static State called(State state, int limit) {
        return state.coming() >= limit ? state : state.counting(1).calling(1);
    }

    /**
     * Plays all orders. Returns in how many ends a node is lost.
     *
     * @param limit how many threads the scheduler says that it has
     * @param threads how many it has, which may be more, such as those that a fork-join pool adds for blocked ones
     */
    private static int lost(int limit, int threads, Bug bug) {
        Set<State> seen = new HashSet<>();
        ArrayDeque<State> open = new ArrayDeque<>();
        open.add(begin(threads, 6));
        int lost = 0;
        for (State state; (state = open.poll()) != null; ) {
            if (!seen.add(state)) {
                continue;
            }
            List<State> next = next(state, limit, bug);
            if (next.isEmpty() && state.stack() > 0 && state.threads().contains(Step.FREE)) {
                lost++;
            }
            open.addAll(next);
        }
        assertThat(seen).hasSizeGreaterThan(50);
        return lost;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void no_node_lies_there_while_a_thread_is_free_for_ever(int limit) {
        assertThat(lost(limit, limit, Bug.NONE)).isZero();
        assertThat(lost(limit, limit + 1, Bug.NONE)).isZero();
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void the_model_finds_what_another_order_of_the_steps_would_lose(Bug bug) {
        assertThat(lost(1, 1, bug) + lost(1, 2, bug) + lost(2, 3, bug)).isPositive();
    }

    @Test
    void the_stack_counts_as_the_model_does() {
        FlowBuilder<Void> f = FlowPlan.define("three");
        f.node("a", () -> 1);
        f.node("b", () -> 2);
        ReadyStack stack =
                new ReadyStack(new Board(f.build().graph, false, false), new dev.raddle.testing.StepScheduler(2));
        assertThat(stack.mayCall()).isTrue();
        assertThat(stack.mayCall()).isTrue();
        assertThat(stack.mayCall()).isFalse();
        stack.push(0, 0);
        stack.hasCome();
        assertThat(stack.isThreadComing()).isTrue();
        assertThat(stack.pop()).isZero();
        assertThat(stack.isEmpty()).isTrue();
        assertThat(stack.pop()).isNegative();
        assertThat(stack.mayCall()).isTrue();
    }
}
