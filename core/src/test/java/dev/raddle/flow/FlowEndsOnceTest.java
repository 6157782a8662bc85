package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Wait;
import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that are stopped while a node of theirs opens a nested run. */
@Timeout(60)
class FlowEndsOnceTest {

    private final MemoryJournal journal = FlowJournal.inMemory();
    private final List<String> undone = new CopyOnWriteArrayList<>();
    private final AtomicReference<FlowRun<?>> started = new AtomicReference<>();

    /** A list that, when its elements are read, stops the run and waits for its end. */
    private List<Integer> stopping() {
        return new AbstractList<>() {
            @Override
            public Integer get(int index) {
                Wait.until(() -> started.get() != null);
                boolean interrupted = Thread.interrupted();
                started.get().cancel("stopped");
                Wait.until(() -> started.get().isDone());
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return index;
            }

            @Override
            public Iterator<Integer> iterator() {
                get(0);
                return super.iterator();
            }

            @Override
            public int size() {
                return 2;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_run_that_ends_while_a_node_opens_a_nested_run_ends_once_and_undoes_each_node_once(boolean isDurable)
            throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("once");
        Node<String> pay = f.node("pay", () -> "paid").compensate(value -> undone.add("refund"));
        Node<List<Integer>> list = f.node("list", this::stopping);
        Node<List<Integer>> mapped = f.map("map", list, number -> number);
        f.node("end", pay, mapped, (a, b) -> "end");
        RunOptions options = isDurable ? RunOptions.defaults().withJournal(journal) : RunOptions.defaults();
        FlowResult<Void> result;
        try (FlowRun<Void> run = f.build().start(null, options)) {
            started.set(run);
            result = run.join();
        }
        assertThat(result.status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(undone).hasSizeLessThanOrEqualTo(1);
        assertThat(undone.size()).isEqualTo(result.node("pay").state() == NodeState.SUCCESS ? 1 : 0);
        if (isDurable) {
            assertThat(journal.entries().stream().filter(entry -> entry instanceof Entry.RunEnded))
                    .hasSize(1);
        }
    }

    @Test
    void a_run_that_is_cancelled_beside_a_map_undoes_each_node_once() throws Exception {
        for (int round = 0; round < 300; round++) {
            undone.clear();
            FlowBuilder<Void> f = FlowPlan.define("once");
            Node<String> pay = f.node("pay", () -> "paid").compensate(value -> undone.add("refund"));
            Node<List<Integer>> list = f.node("list", () -> List.of(1, 2, 3, 4));
            Node<List<Integer>> mapped = f.map("map", list, number -> number);
            f.node("end", pay, mapped, (a, b) -> "end");
            FlowResult<Void> result;
            try (FlowRun<Void> run = f.build().start(null, RunOptions.defaults())) {
                run.cancel("at once");
                result = run.join();
            }
            boolean isUndone = result.status() == FlowStatus.CANCELLED
                    && result.node("pay").state() == NodeState.SUCCESS;
            assertThat(undone).hasSize(isUndone ? 1 : 0);
        }
    }
}
