package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Maps over collections whose elements are recorded. */
@Timeout(60)
class FlowMapJournalTest {

    private final FlowBuilder<Void> f = FlowPlan.define("images");
    private final MemoryJournal journal = FlowJournal.inMemory();
    private final RunOptions options = RunOptions.defaults().withJournal(journal);
    private final List<Integer> ran = new CopyOnWriteArrayList<>();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private Node<List<Integer>> numbers(int count) {
        return f.node("numbers", () -> IntStream.range(0, count).boxed().toList());
    }

    private String scaled(int number) {
        ran.add(number);
        if (number == 3 && broken.get()) {
            throw new IllegalStateException("3 is broken");
        }
        return number == 1 ? null : "scaled " + number;
    }

    @Test
    void a_resumed_run_repeats_only_the_elements_that_are_not_recorded() throws Exception {
        Node<List<String>> mapped = f.map("mapped", numbers(5), MapOptions.limit(1), this::scaled);
        FlowPlan<Void, List<String>> plan = f.returning(mapped);
        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).containsExactly(0, 1, 2, 3);
        ran.clear();
        broken.set(false);

        assertThat(plan.run(null, options).value())
                .containsExactly("scaled 0", null, "scaled 2", "scaled 3", "scaled 4");

        assertThat(ran).containsExactly(3, 4);
        assertThat(sizes("mapped")).containsExactly(5);
        ran.clear();
        assertThat(plan.run(null, options).value())
                .containsExactly("scaled 0", null, "scaled 2", "scaled 3", "scaled 4");
        assertThat(ran).isEmpty();
    }

    @Test
    void elements_of_a_collection_without_a_fixed_order_are_all_repeated() throws Exception {
        List<Integer> order = new ArrayList<>(List.of(1, 2, 3));
        Node<Integer> size = f.node("size", order::size);
        Node<Set<Integer>> numbers = f.node("numbers", size, count -> new LinkedHashSet<>(order));
        Node<List<String>> mapped = f.map("mapped", numbers, MapOptions.limit(1), this::scaled);
        FlowPlan<Void, List<String>> plan = f.returning(mapped);
        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).containsExactly(1, 2, 3);
        broken.set(false);
        ran.clear();

        MemoryJournal reordered = withNumbers(new LinkedHashSet<>(List.of(3, 2, 1))); // equal, in another order
        assertThat(plan.run(null, RunOptions.defaults().withJournal(reordered)).value())
                .containsExactly("scaled 3", "scaled 2", null);
        assertThat(ran).containsExactly(3, 2, 1);
        ran.clear();
        assertThat(plan.run(null, RunOptions.defaults().withJournal(reordered)).value())
                .containsExactly("scaled 3", "scaled 2", null);
        assertThat(ran).isEmpty();
    }

    /** Returns the sizes in the records of the ends of a map. */
    private List<Integer> sizes(String id) {
        return journal.entries().stream()
                .flatMap(
                        entry -> entry instanceof Entry.MapEnded end && end.id().equals(id)
                                ? java.util.stream.Stream.of(end.size())
                                : java.util.stream.Stream.empty())
                .toList();
    }

    /** Returns a copy of the journal in which the value of "numbers" is another one. */
    private MemoryJournal withNumbers(Object value) {
        MemoryJournal copy = FlowJournal.inMemory();
        for (Entry entry : journal.entries()) {
            boolean isNumbers = entry instanceof Entry.NodeEnded end && end.id().equals("numbers");
            copy.record(isNumbers ? Entry.NodeEnded.succeeded("numbers", value) : entry);
        }
        return copy;
    }

    @Test
    void the_value_of_a_fallback_replaces_the_elements() throws Exception {
        Node<List<String>> mapped =
                f.map("mapped", numbers(4), MapOptions.limit(1), this::scaled).fallbackValue(List.of("none"));
        FlowPlan<Void, List<String>> plan = f.returning(mapped);
        assertThat(plan.run(null, options).value()).containsExactly("none");
        ran.clear();
        assertThat(plan.run(null, options).value()).containsExactly("none");
        assertThat(ran).isEmpty();
        assertThat(new Recovered(journal.entries()).elements).isEmpty();
    }

    @Test
    void an_empty_map_is_recorded() throws Exception {
        FlowPlan<Void, List<String>> plan = f.returning(f.map("mapped", numbers(0), this::scaled));
        assertThat(plan.run(null, options).value()).isEmpty();
        assertThat(plan.run(null, options).value()).isEmpty();
        assertThat(sizes("mapped")).containsExactly(0);
    }

    @Test
    void a_recorded_element_starts_no_other_one_beyond_the_limit() throws Exception {
        int count = 10;
        for (int index : new int[] {0, 2, 3, 8, 9}) {
            journal.record(new Entry.ElementEnded("mapped", index, "recorded " + index));
        }
        JournalRecords.finish(
                journal, "numbers", IntStream.range(0, count).boxed().toList());
        StepScheduler steps = new StepScheduler();
        AtomicInteger inFlight = new AtomicInteger();
        List<Integer> seen = new ArrayList<>();
        Node<List<String>> mapped = f.map("mapped", numbers(count), MapOptions.limit(1), number -> {
            seen.add(inFlight.incrementAndGet());
            steps.runAll(); // every element that was started meanwhile
            inFlight.decrementAndGet();
            return scaled(number);
        });
        broken.set(false);

        FlowRun<List<String>> run = f.returning(mapped).start(null, options.withScheduler(steps));
        steps.runAll();

        assertThat(run.join().value())
                .startsWith("recorded 0", null, "recorded 2")
                .endsWith("recorded 9")
                .hasSize(count);
        assertThat(ran).containsExactly(1, 4, 5, 6, 7);
        assertThat(seen).containsExactly(1, 1, 1, 1, 1);
    }

    @Test
    void elements_run_again_if_their_collection_does() throws Exception {
        FlowPlan<Void, List<String>> plan = f.returning(f.map("mapped", numbers(5), MapOptions.limit(1), this::scaled));
        plan.run(null, options);
        ran.clear();
        broken.set(false);
        plan.run(null, options.rerun("numbers"));
        assertThat(ran).containsExactly(0, 1, 2, 3, 4);
    }

    // first has failed, so that second is mapped; in the next try it may be first
    @Test
    void elements_of_a_collection_that_may_be_another_in_the_next_try_run_again() throws Exception {
        Node<List<Integer>> first = f.node("first", () -> {
            if (broken.get()) {
                throw new IllegalStateException("first is broken");
            }
            return List.of(7, 8);
        });
        Node<List<Integer>> second = f.node("second", () -> List.of(1, 3)).needs(Dependency.after(first));
        Node<List<String>> mapped = f.map("mapped", Dependency.anyOf(first, second), MapOptions.limit(1), this::scaled);
        FlowPlan<Void, List<String>> plan = f.returning(mapped);
        assertThat(plan.run(null, options).status()).isEqualTo(FlowStatus.FAILED);
        assertThat(ran).containsExactly(1, 3);
        ran.clear();
        broken.set(false);

        plan.run(null, options.inCallersThread());

        assertThat(ran).containsExactly(1, 3); // not element 1 alone
    }

    @Test
    void a_run_that_is_abandoned_in_the_middle_of_a_map_keeps_the_elements() throws Exception {
        BlockingTask task = new BlockingTask();
        Node<List<String>> mapped = f.map("mapped", numbers(3), MapOptions.limit(1), number -> {
            if (number == 2 && broken.get()) {
                return task.call();
            }
            return scaled(number);
        });
        FlowPlan<Void, List<String>> plan = f.returning(mapped);
        try (FlowRun<List<String>> run = plan.start(null, options)) {
            task.awaitBegun();
            run.abandon("crash");
        }
        assertThat(new Recovered(journal.entries()).elements).isEqualTo(Map.of("mapped", mapOf("scaled 0", null)));
        broken.set(false);
        assertThat(plan.run(null, options).value()).containsExactly("scaled 0", null, "scaled 2");
        assertThat(ran).containsExactly(0, 1, 2);
    }

    private static Map<Integer, String> mapOf(String... values) {
        Map<Integer, String> map = new HashMap<>();
        List<String> list = new ArrayList<>(Arrays.asList(values));
        IntStream.range(0, list.size()).forEach(index -> map.put(index, list.get(index)));
        return map;
    }
}
