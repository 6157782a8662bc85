package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The work is linear in nodes and edges; an algorithm that follows every path would never end here. */
@Timeout(60)
class FlowLinearWorkTest {

    private static final int DIAMONDS = 2_000;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration GENEROUS = Duration.ofSeconds(20); // 2^2000 paths take longer

    private final FlowBuilder<Void> f = FlowPlan.define("diamonds");
    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger reported = new AtomicInteger();

    private Node<Integer> counted(Node<Integer> node) {
        return node.onResult(report -> reported.incrementAndGet());
    }

    private Node<Integer> diamonds(Node<Integer> root, boolean any) {
        Node<Integer> last = root;
        for (int i = 0; i < DIAMONDS; i++) {
            Node<Integer> left = counted(f.node("l" + i, last, x -> ran.incrementAndGet()));
            Node<Integer> right = counted(f.node("r" + i, last, x -> ran.incrementAndGet()));
            last = counted(
                    any
                            ? f.node("j" + i, anyOf(left, right), x -> ran.incrementAndGet())
                            : f.node("j" + i, left, right, (x, y) -> ran.incrementAndGet()));
        }
        return last;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void diamonds_below_a_blocked_root_end_at_the_deadline_each_node_once(boolean any) throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        Node<Integer> root = f.node("root", () -> slow.call().length());
        FlowPlan<Void, Integer> plan = f.returning(diamonds(root, any));
        long start = System.nanoTime();
        FlowRun<Integer> run = plan.start(null, RunOptions.timeout(SECOND).withTimeSource(time));
        slow.awaitBegun();
        time.advance(SECOND);
        FlowResult<Integer> result = run.join();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(GENEROUS);
        assertThat(result.nodes()).allMatch(node -> node.state() == NodeState.TIMED_OUT);
        assertThat(reported).hasValue(3 * DIAMONDS);
        assertThat(ran).hasValue(0);
        run.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void diamonds_below_a_failed_root_fail_each_node_once(boolean any) throws Exception {
        Node<Integer> root = f.node("root", () -> {
            throw new IllegalStateException("root is broken");
        });
        FlowResult<Integer> result = f.returning(diamonds(root, any)).run(null);
        assertThat(result.nodes()).allMatch(node -> node.state() == NodeState.FAILED);
        assertThat(result.nodes())
                .extracting(NodeReport::cause)
                .containsOnly(result.node(root).cause());
        assertThat(reported).hasValue(3 * DIAMONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void diamonds_that_become_unneeded_are_skipped_each_node_once(boolean any) throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<Integer> root = f.node("root", () -> slow.call().length());
        Node<Integer> last = diamonds(root, any);
        Node<Integer> fast = f.node("fast", () -> {
            slow.awaitBegun();
            return 7;
        });
        Node<Integer> end = f.node("end", anyOf(last, fast), x -> x);
        FlowRun<Integer> run = f.returning(end).start(null);
        Wait.until(() -> run.state("end").isTerminal());
        assertThat(run.state("l0")).isEqualTo(NodeState.SKIPPED);
        slow.release();
        assertThat(run.get()).isEqualTo(7);
        assertThat(reported).hasValue(3 * DIAMONDS);
        assertThat(ran).hasValue(0);
        assertThat(run.join().node(root).state()).isEqualTo(NodeState.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void diamonds_run_each_node_once_at_most(boolean any) throws Exception {
        Node<Integer> root = f.node("root", () -> 0);
        FlowResult<Integer> result = f.returning(diamonds(root, any)).run(null);
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(ran.get()).isBetween(2 * DIAMONDS, 3 * DIAMONDS);
        assertThat(reported).hasValue(3 * DIAMONDS);
        long done = result.nodes().stream()
                .filter(node -> node.state() == NodeState.SUCCESS)
                .count();
        assertThat(ran).hasValue((int) done - 1);
    }

    @Test
    void a_wide_join_of_every_kind_is_decided_in_linear_work() throws Exception {
        int width = 20_000;
        List<Node<Integer>> all = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            int me = i;
            all.add(counted(f.node("n" + i, () -> {
                if (me % 2 == 0) {
                    throw new IllegalStateException("even");
                }
                return me;
            })));
        }
        Node<Integer> any = f.node("any", anyOf(all), x -> x);
        Node<List<Integer>> half = f.node("half", Dependency.atLeast(width / 2, all), xs -> xs);
        Node<List<Integer>> more = f.node("more", Dependency.atLeast(width / 2 + 1, all), xs -> xs);
        Node<Integer> ends = f.node("ends", () -> 1);
        for (Node<Integer> node : all) {
            ends.needs(after(node));
        }
        Node<Integer> whatever = f.node("whatever", () -> 1);
        for (Node<Integer> node : all) {
            whatever.needs(optional(node));
        }
        FlowResult<?> result = f.returning(List.of(any, half, ends, whatever)).run(null);
        assertThat(result.node(any).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node(half).value()).hasSize(width / 2);
        assertThat(result.node(more).state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node(ends).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(reported).hasValue(width);
    }
}
