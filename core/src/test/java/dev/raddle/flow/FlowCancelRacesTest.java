package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.atLeast;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.RetryPolicy;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that another thread cancels at any time, especially those that count without atomic operations. */
class FlowCancelRacesTest {

    private static final int RUNS = 2_000;
    private static final String IDS = "abcdefghijklm";

    private enum Way {
        HERE(RunOptions.defaults().inCallersThread()),
        HERE_AND_FAILING_FAST(HERE.options.onFailure(OnFailure.FAIL_FAST)),
        HERE_AND_INTERRUPTING_LOSERS(HERE.options.obsolete(UnneededPolicy.INTERRUPT)),
        IN_THREADS_AND_FAILING_FAST(RunOptions.defaults().onFailure(OnFailure.FAIL_FAST)),
        IN_THREADS_AND_INTERRUPTING_LOSERS(RunOptions.defaults().obsolete(UnneededPolicy.INTERRUPT));

        private final RunOptions options;

        Way(RunOptions options) {
            this.options = options;
        }
    }

    /** One run, and the condition that its canceller waits for. */
    private static final class Play {
        private final Way way;
        private final int after; // the number of entered actions
        private final int spins;
        private final boolean waits; // whether actions wait for the cancel, so that it is never too late
        private final AtomicInteger entries = new AtomicInteger();
        private final AtomicIntegerArray entered = new AtomicIntegerArray(IDS.length());
        private final AtomicIntegerArray begun = new AtomicIntegerArray(IDS.length());
        private final AtomicIntegerArray reported = new AtomicIntegerArray(IDS.length());
        private final CountDownLatch cancelled = new CountDownLatch(1);
        private volatile @Nullable FlowRun<String> run;

        Play(Way way, Random random, boolean waits) {
            this.way = way;
            this.waits = waits;
            after = random.nextInt(IDS.length() + 1);
            spins = random.nextInt(40);
        }

        @SuppressWarnings("ThreadPriorityCheck") // the run may need this processor
        void cancel(FlowRun<String> running) {
            while (entries.get() < after && !running.isDone()) {
                Thread.yield();
            }
            for (int spin = 0; spin < spins; spin++) {
                Thread.onSpinWait();
            }
            running.cancel("enough");
            cancelled.countDown();
        }

        int callbacks() {
            int sum = 0;
            for (int node = 0; node < IDS.length(); node++) {
                sum += begun.get(node) + reported.get(node);
            }
            return sum;
        }
    }

    private final AtomicReference<@Nullable Play> next = new AtomicReference<>();
    private final FlowBuilder<Play> flow = FlowPlan.define("race", Play.class);
    private Play now = new Play(Way.HERE, new Random(0), false); // written before the run that reads it begins
    private volatile boolean over;
    private Thread canceller = Thread.ofPlatform().unstarted(this::cancelEach);

    @SuppressWarnings("ThreadPriorityCheck") // the run may need this processor
    private void cancelEach() {
        while (!over) {
            Play play = next.get();
            FlowRun<String> run = play == null ? null : play.run;
            if (play != null && run != null) {
                next.set(null);
                play.cancel(run);
            }
            Thread.yield();
        }
    }

    @BeforeEach
    void startCanceller() {
        canceller = Thread.ofPlatform().daemon().name("canceller").start(this::cancelEach);
    }

    @AfterEach
    void endCanceller() throws InterruptedException {
        over = true;
        canceller.join();
    }

    private static int numberOf(String id) {
        return IDS.indexOf(id);
    }

    private Node<String> node(String id, Dependency<?>... needs) {
        return node(id, c -> c.id(), needs);
    }

    private Node<String> node(String id, CheckedFunction.F1<NodeContext<Play>, String> action, Dependency<?>... needs) {
        return flow.node(id, (NodeContext<Play> c) -> {
                    c.param().entered.incrementAndGet(numberOf(id));
                    int entry = c.param().entries.incrementAndGet();
                    if (c.param().waits && entry >= c.param().after) {
                        c.param().cancelled.await();
                    }
                    return action.apply(c);
                })
                .needs(needs)
                .onBegin(c -> ((Play) c.param()).begun.incrementAndGet(numberOf(id)))
                .onResult(report -> now.reported.incrementAndGet(numberOf(id)));
    }

    private static String fail(NodeContext<Play> context) {
        throw new IllegalStateException(context.id() + " is broken");
    }

    private static String lose(NodeContext<Play> context) throws InterruptedException {
        if (context.param().way == Way.IN_THREADS_AND_INTERRUPTING_LOSERS) {
            new CountDownLatch(1).await(); // until it is interrupted
        }
        return context.id();
    }

    private FlowPlan<Play, String> plan() {
        Node<String> a = node("a");
        Node<String> b = node("b", FlowCancelRacesTest::lose);
        Node<String> c = node("c").when(context -> false);
        Node<String> d = node("d", anyOf(a, b));
        Node<String> e = node("e", optional(c), after(a));
        Node<String> f = node("f", FlowCancelRacesTest::fail, e).retry(RetryPolicy.attempts(2));
        Node<String> g = node("g", atLeast(2, c, d, e));
        Node<String> h = node("h", after(f), d);
        Node<String> i = node("i", anyOf(f, g), optional(c));
        node("j", f, after(i));
        node("k", optional(g), optional(h));
        Node<String> l = node("l", anyOf(h, i), after(c));
        return flow.returning(node("m", l, atLeast(1, i, g), optional(f)));
    }

    @ParameterizedTest
    @EnumSource
    void every_node_ends_once_and_the_run_ends_in_any_race_with_a_cancel(Way way) throws Exception {
        FlowPlan<Play, String> plan = plan();
        Random random = new Random(way.ordinal());
        now = new Play(Way.HERE, random, false);
        List<NodeState> undisturbed = states(plan.run(now, way.options.inCallersThread()));
        int inTheMiddle = 0;
        for (int i = 0; i < RUNS; i++) {
            Play play = new Play(way, random, i % 10 == 0);
            now = play;
            FlowRun<String> run = plan.start(play, way.options);
            play.run = run;
            next.set(play);
            FlowResult<String> result = run.join();
            int callbacks = play.callbacks();
            play.cancelled.await();
            run.close();
            assertThat(play.callbacks()).as("callbacks after the end").isEqualTo(callbacks);
            boolean cancelled = result.status() == FlowStatus.CANCELLED;
            inTheMiddle += cancelled && play.entries.get() > 0 ? 1 : 0;
            assertThat(result.nodes()).hasSize(IDS.length());
            for (NodeReport<?> report : result.nodes()) {
                ensureEndedOnce(play, report);
            }
            if (way.options.values.inCallersThread && !cancelled) {
                assertThat(states(result)).as("a cancel that came too late").isEqualTo(undisturbed);
            }
        }
        assertThat(inTheMiddle).as("runs that were cut off").isPositive();
    }

    private static List<NodeState> states(FlowResult<?> result) {
        return result.nodes().stream().map(NodeReport::state).toList();
    }

    private static void ensureEndedOnce(Play play, NodeReport<?> report) {
        int node = numberOf(report.id());
        int entries = play.entered.get(node);
        assertThat(report.state().isTerminal()).as("%s has ended", report.id()).isTrue();
        assertThat(play.reported.get(node)).as("results of " + report.id()).isEqualTo(1);
        assertThat(entries)
                .as("entries of " + report.id())
                .isLessThanOrEqualTo(report.id().equals("f") ? 2 : 1);
        assertThat(play.begun.get(node)).as("begins of " + report.id()).isEqualTo(entries > 0 ? 1 : 0);
    }
}
