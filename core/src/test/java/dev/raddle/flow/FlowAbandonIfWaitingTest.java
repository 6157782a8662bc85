package dev.raddle.flow;

import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that are abandoned because they only wait. */
@Timeout(60)
class FlowAbandonIfWaitingTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    private final FlowBuilder<String> f = FlowPlan.define("waits", String.class);
    private final VirtualTime time = new VirtualTime();
    private final List<Entry> entries = new CopyOnWriteArrayList<>();
    private final FlowJournal journal = new FlowJournal() {
        private final MemoryJournal kept = FlowJournal.inMemory();

        @Override
        public List<Entry> open(Work work) {
            return kept.open(work);
        }

        @Override
        public void record(Entry entry) {
            entries.add(entry);
            kept.record(entry);
        }
    };
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    // All nodes run in the thread that starts the run, delivers a signal or advances the time.
    private final RunOptions options = RunOptions.defaults()
            .withTimeSource(time)
            .withScheduler(Runnable::run)
            .withJournal(journal);

    private Node<String> logged(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    log.add(id);
                    return id;
                })
                .needs(needs);
    }

    private static boolean isAbandoned(FlowRun<?> run) {
        return run.abandonIfWaiting("test", Duration.ZERO).isPresent();
    }

    @Test
    void a_run_in_its_callers_thread_is_abandoned_while_that_waits() throws Exception {
        Node<String> approved = f.signal("approved", String.class).needs(order(logged("a")));
        logged("b", order(approved));
        FlowPlan<String, Void> plan = f.build();
        RunOptions inCallersThread = options.inCallersThread();

        try (FlowRun<Void> first = plan.start("p", inCallersThread)) {
            FutureTask<FlowResult<Void>> joined = new FutureTask<>(first::join);
            Thread caller = Thread.ofPlatform().start(joined);
            Wait.until(() -> log.equals(List.of("a")) && caller.getState() == Thread.State.WAITING);
            assertThat(isAbandoned(first)).isTrue();
            assertThat(joined.get().status()).isEqualTo(FlowStatus.LOST);
        }
        try (FlowRun<Void> second = plan.start("p", inCallersThread)) {
            assertThat(second.signal("approved", "Ann")).isTrue();
            assertThat(second.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
        assertThat(log).containsExactly("a", "b");
    }

    @Test
    void a_run_that_only_waits_is_abandoned_and_continued_from_its_journal() throws Exception {
        Node<String> a = logged("a");
        Node<String> approved = f.signal("approved", String.class).needs(order(a));
        logged("b", order(approved)).compensate(value -> log.add("undo b"));
        FlowPlan<String, Void> plan = f.build();

        try (FlowRun<Void> first = plan.start("p", options)) {
            assertThat(first.abandonIfWaiting("a test", SECOND)).contains(FOREVER);
            assertThat(first.join().status()).isEqualTo(FlowStatus.LOST);
            assertThat(first.join().explain("approved")).contains("was abandoned: a test");
        }
        assertThat(entries).noneMatch(Entry.RunEnded.class::isInstance);
        try (FlowRun<Void> second = plan.start("p", options)) {
            assertThat(second.signal("approved", "yes")).isTrue();
            assertThat(second.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
        assertThat(log).containsExactly("a", "b");
    }

    @Test
    void the_time_until_the_run_continues_is_that_of_the_first_sleep_or_timeout() throws Exception {
        f.sleep("late", HOUR.multipliedBy(3));
        f.sleep("early", HOUR.multipliedBy(2)).needs(order(logged("a")));
        Node<String> approved = f.signal("approved", String.class).timeout(HOUR);
        f.sleep("next", SECOND).needs(order(approved)).timeout(SECOND); // has not begun
        FlowPlan<String, Void> plan = f.build();

        try (FlowRun<Void> run = plan.start("p", options)) {
            time.advance(SECOND);
            assertThat(run.abandonIfWaiting("test", HOUR)).isEmpty();
            assertThat(run.abandonIfWaiting("test", SECOND)).contains(HOUR.minus(SECOND));
        }
        time.advance(SECOND);
        try (FlowRun<Void> run = plan.start("p", options.withTimeout(Duration.ofMinutes(10)))) {
            assertThat(run.abandonIfWaiting("test", SECOND))
                    .contains(Duration.ofMinutes(10).minus(SECOND.multipliedBy(2)));
        }
        time.advance(HOUR);
        try (FlowRun<Void> run = plan.start("p", options)) {
            assertThat(run.state("approved")).isEqualTo(NodeState.TIMED_OUT);
            assertThat(run.abandonIfWaiting("test", SECOND)).contains(HOUR.minus(SECOND.multipliedBy(2)));
        }
    }

    @ParameterizedTest(name = "before {0} steps")
    @ValueSource(ints = {0, 1, 2})
    void a_node_that_waits_for_a_thread_is_about_to_run(int steps) throws Exception {
        Deque<Runnable> threads = new ArrayDeque<>();
        Node<Void> pause = f.sleep("pause", HOUR);
        Node<String> approved = f.signal("approved", String.class);
        logged("chosen", anyOf(approved, pause));
        logged("both", order(approved), order(pause));
        try (FlowRun<Void> run = f.build().start("p", options.withScheduler(threads::add))) {
            runAll(threads);
            if (steps > 0) {
                run.signal("approved", "yes");
            }
            if (steps > 1) {
                runAll(threads);
                time.advance(HOUR);
            }
            assertThat(isAbandoned(run)).isEqualTo(steps == 0);
            runAll(threads);
            time.advance(HOUR);
            runAll(threads);
            assertThat(run.join().status()).isEqualTo(steps == 0 ? FlowStatus.LOST : FlowStatus.SUCCESS);
        }
        assertThat(log).isEqualTo(steps == 0 ? List.of() : List.of("chosen", "both"));
    }

    private static void runAll(Deque<Runnable> threads) {
        for (Runnable next; (next = threads.poll()) != null; ) {
            next.run();
        }
    }

    @Test
    void a_root_that_waits_for_a_thread_is_about_to_run() throws Exception {
        Deque<Runnable> threads = new ArrayDeque<>();
        logged("a");
        f.signal("approved", String.class);
        try (FlowRun<Void> run = f.build().start("p", options.withScheduler(threads::add))) {
            assertThat(isAbandoned(run)).isFalse();
            threads.poll().run();
            runAll(threads);
            assertThat(isAbandoned(run)).isTrue();
        }
        assertThat(log).containsExactly("a");
    }

    @Test
    void a_node_that_runs_or_waits_for_its_next_attempt_is_not_interrupted() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        f.node("a", () -> {
                    begun.countDown();
                    mayEnd.await();
                    if (attempts.incrementAndGet() == 1) {
                        throw new IOException("not yet");
                    }
                    return "a";
                })
                .retry(RetryPolicy.fixedDelay(2, HOUR));
        f.signal("approved", String.class);
        RunOptions threaded = RunOptions.defaults().withTimeSource(time).withJournal(journal);
        try (FlowRun<Void> run = f.build().start("p", threaded)) {
            begun.await();
            assertThat(isAbandoned(run)).isFalse();
            mayEnd.countDown();
            time.awaitAlarms(1); // that of the delay
            assertThat(isAbandoned(run)).isFalse();
            time.advance(HOUR);
            run.signal("approved", "yes");
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
        assertThat(attempts).hasValue(2);
    }

    @Test
    void a_run_with_an_action_that_has_timed_out_and_not_returned_is_not_abandoned() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        f.node("a", () -> {
                    begun.countDown();
                    while (mayEnd.getCount() > 0) {
                        Thread.onSpinWait(); // does not respond to the interrupt
                    }
                    return "a";
                })
                .timeout(SECOND);
        f.signal("approved", String.class);
        RunOptions threaded = RunOptions.defaults().withTimeSource(time).withJournal(journal);
        try (FlowRun<Void> run = f.build().start("p", threaded)) {
            begun.await();
            time.advance(SECOND);
            Wait.until(() -> run.state("a") == NodeState.TIMED_OUT);
            assertThat(isAbandoned(run)).isFalse();
            mayEnd.countDown();
            Wait.until(() -> isAbandoned(run)); // when the action has returned
        }
    }

    @Test
    void a_run_in_a_subflow_is_not_abandoned_since_its_nodes_are_not_recorded() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        Node<String> confirmed = inner.signal("confirmed", String.class);
        Node<String> ship = f.subflow("ship", inner.returning(confirmed), f.node("order", () -> "x"));
        f.signal("approved", String.class).needs(order(ship));
        try (FlowRun<Void> run = f.build().start("p", options)) {
            assertThat(isAbandoned(run)).isFalse();
            assertThat(run.signal("ship/confirmed", "yes")).isTrue();
            assertThat(isAbandoned(run)).isTrue();
        }
    }

    @Test
    void a_run_that_waits_for_a_permit_that_has_ended_or_has_no_journal_is_not_abandoned() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        f.signal("approved", String.class);
        f.node("a", () -> "a").group("narrow");
        FlowPlan<String, Void> plan = f.build();
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build())) {
            TaskHandle<String> holder = groups.submit("narrow", () -> {
                mayEnd.await();
                return "held";
            });
            try (FlowRun<Void> run = plan.start("p", options.withGroups(groups::scheduler))) {
                assertThat(isAbandoned(run)).isFalse();
                mayEnd.countDown();
                holder.join();
                run.signal("approved", "yes");
                run.join();
                assertThat(isAbandoned(run)).isFalse();
                assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
            }
            RunOptions without = RunOptions.defaults().withGroups(groups::scheduler);
            try (FlowRun<Void> run = plan.start("p", without)) {
                Wait.until(() -> run.state("a") == NodeState.SUCCESS);
                assertThat(isAbandoned(run)).isFalse();
            }
        }
    }

    @Test
    void a_cancelled_run_is_not_abandoned() throws Exception {
        f.signal("approved", String.class);
        logged("paid").compensate(value -> log.add("undo " + value));
        try (FlowRun<Void> run = f.build().start("p", options)) {
            run.cancel("not needed");
            assertThat(isAbandoned(run)).isFalse();
            assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
        }
        assertThat(log).containsExactly("paid", "undo paid");
    }

    @Test
    void a_node_whose_end_has_not_reached_its_dependents_continues_the_run() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch mayContinue = new CountDownLatch(1);
        Node<String> approved = f.signal("approved", String.class).onResult(report -> {
            ended.countDown();
            Wait.until(() -> mayContinue.getCount() == 0);
        });
        logged("b", anyOf(approved, f.sleep("pause", HOUR)));
        try (FlowRun<Void> run = f.build().start("p", options)) {
            Thread signaller = Thread.ofVirtual().start(() -> run.signal("approved", "yes"));
            ended.await();
            assertThat(isAbandoned(run)).isFalse();
            mayContinue.countDown();
            signaller.join();
            assertThat(log).containsExactly("b");
        }
    }

    @Test
    void a_node_that_was_triggered_during_the_check_does_not_begin() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicReference<Runnable> atNextLook = new AtomicReference<>(() -> {});
        TimeSource looked = new TimeSource() {
            @Override
            public long nanoTime() {
                atNextLook.getAndSet(() -> {}).run();
                return time.nanoTime();
            }

            @Override
            public Instant instant() {
                return time.instant();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                return time.after(delay, action);
            }
        };
        Node<String> approved = f.signal("approved", String.class);
        f.node("b", () -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return "b";
                })
                .needs(order(approved));
        f.sleep("pause", HOUR); // is looked at last
        FlowPlan<String, Void> plan = f.build();
        try (FlowRun<Void> run = plan.start("p", options.withTimeSource(looked))) {
            Thread signaller = Thread.ofPlatform().unstarted(() -> run.signal("approved", "yes"));
            atNextLook.set(() -> {
                signaller.start();
                Wait.until(() -> begun.getCount() == 0 || signaller.getState() == Thread.State.WAITING);
            });
            assertThat(isAbandoned(run)).isTrue();
            signaller.join();
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(begun.getCount()).isEqualTo(1);
        assertThat(entries)
                .anyMatch(entry ->
                        entry instanceof Entry.NodeEnded end && end.id().equals("approved"));
    }

    @Test
    void a_signal_at_the_same_time_runs_the_dependent_once_and_never_interrupted() throws Exception {
        AtomicInteger interrupted = new AtomicInteger();
        Node<String> approved = f.signal("approved", String.class);
        f.node("b", () -> {
                    log.add("b");
                    if (Thread.currentThread().isInterrupted()) {
                        interrupted.incrementAndGet();
                    }
                    return "b";
                })
                .needs(order(approved));
        FlowPlan<String, Void> plan = f.build();
        for (int i = 0; i < 2_000; i++) {
            log.clear();
            RunOptions recorded = RunOptions.defaults().withJournal(FlowJournal.inMemory());
            CyclicBarrier together = new CyclicBarrier(2);
            try (FlowRun<Void> first = plan.start("p", recorded)) {
                FutureTask<Boolean> abandoned = new FutureTask<>(() -> {
                    together.await();
                    return isAbandoned(first);
                });
                Thread abandoner = Thread.ofVirtual().start(abandoned);
                together.await();
                boolean isDelivered;
                try {
                    isDelivered = first.signal("approved", "yes");
                } catch (FencedException lost) {
                    isDelivered = false;
                }
                abandoner.join();
                FlowStatus status = first.join().status();
                assertThat(status).isEqualTo(abandoned.get() ? FlowStatus.LOST : FlowStatus.SUCCESS);
                assertThat(log).hasSize(abandoned.get() ? 0 : 1);
                assertThat(abandoned.get() || isDelivered).isTrue();
            }
            try (FlowRun<Void> second = plan.start("p", recorded)) {
                second.signal("approved", "yes"); // unless the first one has received it
                assertThat(second.join().status()).isEqualTo(FlowStatus.SUCCESS);
            }
            assertThat(log).hasSize(1);
        }
        assertThat(interrupted).hasValue(0);
    }
}
