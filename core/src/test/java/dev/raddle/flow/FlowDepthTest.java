package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Scheduler;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nested runs of any depth do not grow the stack. */
@Timeout(60)
class FlowDepthTest {

    private static final int LEVELS = 5_000;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Scheduler CALLER = Runnable::run;

    /** The threads on which nodes run. */
    private enum Where {
        VIRTUAL_THREADS(options -> options),
        CALLERS_THREAD(RunOptions::inCallersThread),
        IN_PLACE(options -> options.withScheduler(CALLER)),
        ONE_THREAD(options -> options.withScheduler(Scheduler.fixed(1))),
        FORK_JOIN(options -> options.withScheduler(Scheduler.from(new ForkJoinPool(2)))),
        GROUPS_IN_PLACE(options -> options.withGroups(key -> CALLER)),
        ALL_IN_PLACE(options -> options.withScheduler(CALLER).withGroups(key -> CALLER));

        private final UnaryOperator<RunOptions> how;

        Where(UnaryOperator<RunOptions> how) {
            this.how = how;
        }

        boolean hasGroups() {
            return name().contains("IN_PLACE") && this != IN_PLACE;
        }
    }

    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger undone = new AtomicInteger();

    /** Returns a plan that adds one to its parameter at each level, and then the value of the innermost node. */
    private FlowPlan<Integer, Integer> nested(int levels, Where where, CheckedFunction.F1<Integer, Integer> innermost) {
        FlowBuilder<Integer> inner = FlowPlan.define("level 0", Integer.class);
        FlowPlan<Integer, Integer> plan = inner.returning(inner.node("innermost", c -> innermost.apply(c.param())));
        for (int level = 1; level <= levels; level++) {
            FlowBuilder<Integer> around = FlowPlan.define("level " + level, Integer.class);
            Node<Integer> more = around.node("more", c -> c.param() + 1);
            if (level % 100 == 0) { // each of these runs has a thread for its compensations
                more.compensate(v -> undone.incrementAndGet());
            }
            Node<Integer> sub = around.subflow("sub", plan, more).onResult(report -> ended.incrementAndGet());
            if (where.hasGroups()) {
                sub.group("g");
            }
            plan = around.returning(around.node("out", sub, x -> x));
        }
        return plan;
    }

    @ParameterizedTest
    @EnumSource(Where.class)
    void the_depth_of_subflows_is_limited_by_memory_only(Where where) throws Exception {
        FlowPlan<Integer, Integer> plan = nested(LEVELS, where, x -> x);
        FlowResult<Integer> result = plan.run(0, where.how.apply(RunOptions.defaults()));
        assertThat(result.value()).isEqualTo(LEVELS);
        assertThat(ended).hasValue(LEVELS);
    }

    @ParameterizedTest
    @EnumSource(Where.class)
    void a_failure_is_passed_up_from_any_depth_and_the_levels_are_undone(Where where) throws Exception {
        IllegalStateException broken = new IllegalStateException("broken");
        FlowPlan<Integer, Integer> plan = nested(LEVELS, where, x -> {
            throw broken;
        });
        FlowResult<Integer> result = plan.run(0, where.how.apply(RunOptions.defaults()));
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.node("sub").cause()).isSameAs(broken);
        assertThat(ended).hasValue(LEVELS);
        assertThat(undone).hasValue(LEVELS / 100);
    }

    @ParameterizedTest
    @EnumSource(
            value = Where.class,
            names = {"VIRTUAL_THREADS", "ONE_THREAD", "FORK_JOIN"})
    void a_deadline_reaches_any_depth(Where where) throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask slow = new BlockingTask();
        FlowPlan<Integer, Integer> plan = nested(LEVELS, where, x -> {
            slow.call();
            return x;
        });
        RunOptions options = where.how.apply(RunOptions.timeout(SECOND).withTimeSource(time));
        try (FlowRun<Integer> run = plan.start(0, options)) {
            slow.awaitBegun();
            time.advance(SECOND);
            assertThat(run.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
            slow.awaitInterrupt();
        }
        assertThat(slow.returns()).isEqualTo(1); // before close() returned
    }

    @Test
    void a_cancel_reaches_any_depth() throws Exception {
        BlockingTask slow = new BlockingTask();
        FlowBuilder<Integer> inner = FlowPlan.define("level 0", Integer.class);
        FlowPlan<Integer, Integer> plan = inner.returning(inner.node("innermost", c -> {
            slow.call();
            return c.param();
        }));
        for (int level = 1; level <= LEVELS; level++) {
            FlowBuilder<Integer> around = FlowPlan.define("level " + level, Integer.class);
            plan = around.returning(around.subflow("sub", plan, around.node("p", NodeContext::param)));
        }
        try (FlowRun<Integer> run = plan.start(0)) {
            slow.awaitBegun();
            run.cancel("enough");
            slow.awaitInterrupt();
            assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        }
        assertThat(slow.returns()).isEqualTo(1);
    }

    @Test
    void empty_maps_in_a_long_chain_do_not_grow_the_stack() throws Exception {
        for (Where where : List.of(Where.VIRTUAL_THREADS, Where.IN_PLACE, Where.CALLERS_THREAD)) {
            FlowBuilder<Void> f = FlowPlan.define("maps");
            Node<List<Integer>> last = f.node("first", () -> List.<Integer>of());
            for (int i = 0; i < LEVELS; i++) {
                last = f.map("map " + i, last, x -> x);
            }
            FlowResult<List<Integer>> result = f.returning(last).run(null, where.how.apply(RunOptions.defaults()));
            assertThat(result.value()).isEmpty();
        }
    }

    @Test
    void a_pool_of_one_thread_suffices_for_any_depth() throws Exception {
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            RunOptions options = RunOptions.defaults().withScheduler(Scheduler.from(pool));
            assertThat(nested(LEVELS, Where.ONE_THREAD, x -> x).run(0, options).value())
                    .isEqualTo(LEVELS);
        }
    }
}
