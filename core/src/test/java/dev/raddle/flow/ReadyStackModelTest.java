package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.threads.ReadyStack;
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
 * A model of the protocol of {@link ReadyStack}, for a scheduler with a known number of threads, explored in all orders
 * of its atomic steps. A node that begins may block for ever. A node is lost if no step is possible, a thread is free,
 * and the node is in the stack.
 */
@Timeout(60)
class ReadyStackModelTest {

    /** The next step of a thread. The last three are idle states. */
    private enum Step {
        COUNT_DOWN, // a request has been executed
        TAKE,
        LOOK, // whether the stack is not empty
        REQUEST_ANOTHER,
        RUN,
        PUSH, // a node that its own node has triggered, while it keeps another
        REQUEST,
        DRAIN,
        BLOCKED,
        FREE,
        GONE
    }

    private enum Bug {
        NONE,
        TAKES_BEFORE_IT_COUNTS_DOWN,
        REQUESTS_BEFORE_IT_PUSHES,
        LEAVES_NODES_WITHOUT_A_REQUEST
    }

    /**
     * @param nodes the number of nodes that may still become ready
     * @param stack the number of nodes in the stack
     * @param counted the number of requests that ReadyStack counts
     * @param requests the number of requests that the scheduler has accepted and no thread has executed
     * @param threads the next steps of the scheduler's threads, followed by that of the starting thread
     */
    private record State(int nodes, int stack, int counted, int requests, List<Step> threads) {

        State with(int thread, Step next) {
            List<Step> changed = new ArrayList<>(threads);
            changed.set(thread, next);
            return new State(nodes, stack, counted, requests, changed);
        }

        State makingReady(int more) {
            return new State(nodes - more, stack, counted, requests, threads);
        }

        State pushing(int by) {
            return new State(nodes, stack + by, counted, requests, threads);
        }

        State counting(int by) {
            return new State(nodes, stack, counted + by, requests, threads);
        }

        State requesting(int by) {
            return new State(nodes, stack, counted, requests + by, threads);
        }
    }

    private static State begin(int threads, int nodes) {
        Step[] steps = new Step[threads + 1];
        Arrays.fill(steps, Step.FREE);
        steps[threads] = Step.PUSH; // the starting thread
        return new State(nodes - 1, 0, 0, 0, List.of(steps));
    }

    /** Returns all states that are reachable by one step. */
    private static List<State> next(State state, int limit, Bug bug) {
        List<State> all = new ArrayList<>();
        for (int thread = 0; thread < state.threads().size(); thread++) {
            boolean isOutside = thread == state.threads().size() - 1;
            boolean takesFirst = bug == Bug.TAKES_BEFORE_IT_COUNTS_DOWN;
            switch (state.threads().get(thread)) {
                case FREE -> {
                    if (state.requests() > 0) {
                        all.add(state.requesting(-1).with(thread, takesFirst ? Step.TAKE : Step.COUNT_DOWN));
                    }
                }
                case COUNT_DOWN -> all.add(state.counting(-1).with(thread, takesFirst ? Step.FREE : Step.TAKE));
                case TAKE -> {
                    Step none = takesFirst ? Step.COUNT_DOWN : Step.FREE;
                    State counted = takesFirst && state.stack() > 0 ? state.counting(-1) : state;
                    all.add(state.stack() > 0 ? counted.pushing(-1).with(thread, Step.LOOK) : state.with(thread, none));
                }
                case LOOK -> {
                    boolean requests = state.stack() > 0 && bug != Bug.LEAVES_NODES_WITHOUT_A_REQUEST;
                    all.add(state.with(thread, requests ? Step.REQUEST_ANOTHER : Step.RUN));
                }
                case REQUEST_ANOTHER -> all.add(requested(state, limit).with(thread, Step.RUN));
                case RUN -> {
                    all.add(state.with(thread, Step.BLOCKED));
                    all.add(state.with(thread, Step.DRAIN));
                    if (state.nodes() > 1) { // one for this thread, and one for another
                        boolean requestsFirst = bug == Bug.REQUESTS_BEFORE_IT_PUSHES;
                        all.add(state.makingReady(2).with(thread, requestsFirst ? Step.REQUEST : Step.PUSH));
                    }
                }
                case PUSH -> {
                    State pushed = state.pushing(1);
                    boolean hasRequested = bug == Bug.REQUESTS_BEFORE_IT_PUSHES && !isOutside;
                    all.add(pushed.with(thread, hasRequested ? Step.RUN : Step.REQUEST));
                }
                case REQUEST -> {
                    boolean pushes = bug == Bug.REQUESTS_BEFORE_IT_PUSHES && !isOutside;
                    Step then = isOutside ? Step.GONE : pushes ? Step.PUSH : Step.RUN;
                    State requested = requested(state, limit);
                    all.add(requested.with(thread, then));
                    if (isOutside && state.nodes() > 0) {
                        all.add(requested.makingReady(1).with(thread, Step.PUSH));
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

    private static State requested(State state, int limit) {
        return state.counted() >= limit ? state : state.counting(1).requesting(1);
    }

    /**
     * Explores all orders. Returns the number of final states in which a node is lost.
     *
     * @param limit the parallelism of the scheduler
     * @param threads the actual number of threads, which may be larger, since a fork-join pool adds threads for blocked
     *     ones
     * @param bug the error to introduce
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
    void no_node_stays_in_the_stack_while_a_thread_is_idle(int limit) {
        assertThat(lost(limit, limit, Bug.NONE)).isZero();
        assertThat(lost(limit, limit + 1, Bug.NONE)).isZero();
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void the_model_finds_the_nodes_lost_by_other_orders_of_the_steps(Bug bug) {
        assertThat(lost(1, 1, bug) + lost(1, 2, bug) + lost(2, 3, bug)).isPositive();
    }

    @Test
    void the_stack_counts_as_the_model_does() {
        FlowBuilder<Void> f = FlowPlan.define("three");
        f.node("a", () -> 1);
        f.node("b", () -> 2);
        ReadyStack stack =
                new ReadyStack(new NodeStates(f.build().graph, false, false), new dev.raddle.testing.StepScheduler(2));
        assertThat(stack.tryAddRequest()).isTrue();
        assertThat(stack.tryAddRequest()).isTrue();
        assertThat(stack.tryAddRequest()).isFalse();
        stack.push(0, 0);
        stack.removeRequest();
        assertThat(stack.hasRequests()).isTrue();
        assertThat(stack.pop()).isZero();
        assertThat(stack.isEmpty()).isTrue();
        assertThat(stack.pop()).isNegative();
        assertThat(stack.tryAddRequest()).isTrue();
    }
}
