package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The built-in queue as returned by getQueue(), in a pool whose one thread is busy. */
class BuiltInQueueTest {

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest
    @EnumSource(names = {"BUILT_IN", "BUILT_IN_PRIORITY"})
    @interface EachBuiltIn {}

    /** A task that is equal to any other with the same number. */
    private record Numbered(int number) implements Runnable {
        @Override
        public void run() {}
    }

    private static List<Runnable> tasks(int count) {
        List<Runnable> tasks = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            tasks.add(new Numbered(number));
        }
        return tasks;
    }

    private BlockingQueue<Runnable> queue(QueueKind queueKind, int capacity) throws InterruptedException {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 1, capacity).timeSource(time).build());
        pools.occupy(pool);
        return pool.getQueue();
    }

    private <T> FutureTask<T> waiting(String method, Callable<T> call) {
        FutureTask<T> future = new FutureTask<>(call);
        TestPools.awaitParkedIn(TestPools.started(future), method);
        return future;
    }

    @EachBuiltIn
    void tasks_are_taken_in_the_order_in_which_they_were_put(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        List<Runnable> tasks = tasks(5);
        assertThat(queue.add(tasks.get(0))).isTrue();
        assertThat(queue.offer(tasks.get(1))).isTrue();
        queue.put(tasks.get(2));
        assertThat(queue.offer(tasks.get(3), 1, TimeUnit.SECONDS)).isTrue();
        queue.addAll(tasks.subList(4, 5));
        assertThat(queue).containsExactlyElementsOf(tasks).hasSize(5).isNotEmpty();

        assertThat(queue.peek()).isSameAs(tasks.get(0));
        assertThat(queue.element()).isSameAs(tasks.get(0));
        assertThat(queue.poll()).isSameAs(tasks.get(0));
        assertThat(queue.remove()).isSameAs(tasks.get(1));
        assertThat(queue.take()).isSameAs(tasks.get(2));
        assertThat(queue.poll(1, TimeUnit.SECONDS)).isSameAs(tasks.get(3));
        assertThat(queue.poll(0, TimeUnit.SECONDS)).isSameAs(tasks.get(4));
        assertThat(queue).isEmpty();
        assertThat(time.alarms()).isZero();
    }

    @EachBuiltIn
    void an_empty_queue_returns_no_task(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);

        assertThat(queue.poll()).isNull();
        assertThat(queue.peek()).isNull();
        assertThat(queue.poll(0, TimeUnit.SECONDS)).isNull();
        assertThat(queue.poll(-1, TimeUnit.SECONDS)).isNull();
        assertThat(queue.poll(Long.MIN_VALUE, TimeUnit.DAYS)).isNull();
        assertThatThrownBy(queue::element).isInstanceOf(NoSuchElementException.class);
        assertThatThrownBy(queue::remove).isInstanceOf(NoSuchElementException.class);
        assertThat(queue.iterator().hasNext()).isFalse();
        assertThat(queue.toArray()).isEmpty();
        assertThat(queue.drainTo(new ArrayList<>())).isZero();
        assertThat(queue.size()).isZero();
        assertThat(queue).hasToString("[]");
    }

    @EachBuiltIn
    void a_full_queue_accepts_no_task(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 2);
        assertThat(queue.remainingCapacity()).isEqualTo(2);
        queue.addAll(tasks(2));

        assertThat(queue.remainingCapacity()).isZero();
        assertThat(queue.offer(new Numbered(2))).isFalse();
        assertThat(queue.offer(new Numbered(2), 0, TimeUnit.SECONDS)).isFalse();
        assertThat(queue.offer(new Numbered(2), -1, TimeUnit.SECONDS)).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> queue.add(new Numbered(2)));
        assertThat(queue).containsExactlyElementsOf(tasks(2));
    }

    @EachBuiltIn
    @SuppressWarnings("ModifyingCollectionWithItself") // it must be refused
    void a_null_element_is_rejected(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 2);

        assertThatNullPointerException().isThrownBy(() -> queue.offer(null));
        assertThatNullPointerException().isThrownBy(() -> queue.add(null));
        assertThatNullPointerException().isThrownBy(() -> queue.put(null));
        assertThatNullPointerException().isThrownBy(() -> queue.offer(null, 1, TimeUnit.SECONDS));
        assertThatNullPointerException().isThrownBy(() -> queue.addAll(Arrays.asList(new Numbered(0), null)));
        assertThatNullPointerException().isThrownBy(() -> queue.addAll(null));
        assertThatNullPointerException().isThrownBy(() -> queue.drainTo(null));
        assertThatNullPointerException().isThrownBy(() -> queue.drainTo(null, 0));
        assertThatNullPointerException().isThrownBy(() -> queue.toArray((Object[]) null));
        assertThatNullPointerException().isThrownBy(() -> queue.removeAll(null));
        assertThatNullPointerException().isThrownBy(() -> queue.retainAll(null));
        assertThatNullPointerException().isThrownBy(() -> queue.removeIf(null));
        assertThat(queue.contains(null)).isFalse();
        assertThat(queue.remove(null)).isFalse();
        assertThatIllegalArgumentException().isThrownBy(() -> queue.drainTo(queue));
        assertThatIllegalArgumentException().isThrownBy(() -> queue.drainTo(queue, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> queue.addAll(queue));
    }

    @EachBuiltIn
    void a_taker_waits_until_a_task_is_put(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        FutureTask<Runnable> taken = waiting("take", queue::take);
        FutureTask<Runnable> polled = waiting("poll", () -> queue.poll(1, TimeUnit.DAYS));
        List<Runnable> tasks = tasks(2);

        queue.addAll(tasks);

        assertThat(List.of(taken.get(), polled.get())).containsExactlyInAnyOrderElementsOf(tasks);
        assertThat(queue).isEmpty();
        assertThat(time.alarms()).isZero();
    }

    @EachBuiltIn
    void a_putter_waits_until_the_queue_has_capacity(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 1);
        List<Runnable> tasks = tasks(3);
        queue.put(tasks.get(0));
        FutureTask<Object> put = waiting("put", () -> {
            queue.put(tasks.get(1));
            return null;
        });
        FutureTask<Boolean> offered = waiting("offer", () -> queue.offer(tasks.get(2), 1, TimeUnit.DAYS));

        assertThat(queue.take()).isSameAs(tasks.get(0));
        put.get();
        assertThat(queue.poll()).isSameAs(tasks.get(1));
        assertThat(offered.get()).isTrue();
        assertThat(queue.poll()).isSameAs(tasks.get(2));
        assertThat(time.alarms()).isZero();
    }

    @EachBuiltIn
    void every_kind_of_removal_lets_a_putter_continue(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 1);
        List<Callable<Object>> removals = List.of(
                queue::poll,
                queue::take,
                () -> queue.remove(new Numbered(0)),
                () -> queue.removeIf(task -> true),
                () -> queue.drainTo(new ArrayList<>()),
                () -> {
                    Iterator<Runnable> iterator = queue.iterator();
                    iterator.next();
                    iterator.remove();
                    return null;
                },
                () -> {
                    queue.clear();
                    return null;
                });
        for (Callable<Object> removal : removals) {
            queue.put(new Numbered(0));
            FutureTask<Object> put = waiting("put", () -> {
                queue.put(new Numbered(1));
                return null;
            });
            removal.call();
            put.get();
            queue.clear(); // the tasks that were put, unless they were removed as well
            assertThat(queue).isEmpty();
        }
    }

    @EachBuiltIn
    void a_timed_wait_ends_when_its_timeout_elapses_and_not_before(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 1);
        FutureTask<Runnable> polled = waiting("poll", () -> queue.poll(3, TimeUnit.SECONDS));
        time.advance(Duration.ofSeconds(3).minusNanos(1));
        assertThat(polled.isDone()).isFalse();
        time.advance(Duration.ofNanos(1));
        assertThat(polled.get()).isNull();

        queue.put(new Numbered(0));
        FutureTask<Boolean> offered = waiting("offer", () -> queue.offer(new Numbered(1), 3, TimeUnit.SECONDS));
        time.advance(Duration.ofSeconds(3).minusNanos(1));
        assertThat(offered.isDone()).isFalse();
        time.advance(Duration.ofNanos(1));
        assertThat(offered.get()).isFalse();
        assertThat(queue).containsExactly(new Numbered(0));
    }

    @EachBuiltIn
    void an_interrupt_ends_every_wait_and_removes_no_task(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> empty = queue(queueKind, 1);
        BlockingQueue<Runnable> full = queue(queueKind, 1);
        full.put(new Numbered(0));
        List<Callable<Object>> waits = List.of(
                empty::take,
                () -> empty.poll(1, TimeUnit.DAYS),
                () -> full.offer(new Numbered(1), 1, TimeUnit.DAYS),
                () -> {
                    full.put(new Numbered(1));
                    return null;
                });
        for (Callable<Object> wait : waits) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(wait::call).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();

            FutureTask<Object> waiting = new FutureTask<>(wait);
            Thread thread = TestPools.started(waiting);
            TestPools.awaitParkedIn(thread, "awaitUntil");
            thread.interrupt();
            assertThatThrownBy(waiting::get).hasCauseInstanceOf(InterruptedException.class);
        }
        assertThat(full).containsExactly(new Numbered(0));
        assertThat(time.alarms()).isZero();
        empty.put(new Numbered(2));
        assertThat(empty.take()).isEqualTo(new Numbered(2));
    }

    @EachBuiltIn
    void an_interrupted_thread_gets_an_InterruptedException_although_it_need_not_wait(QueueKind queueKind)
            throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 2);
        queue.put(new Numbered(0));

        Thread.currentThread().interrupt();
        assertThatThrownBy(queue::take).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> queue.put(new Numbered(1))).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThat(queue.offer(new Numbered(1))).as("offer does not wait").isTrue();
        assertThat(queue.poll()).isEqualTo(new Numbered(0));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(queue).containsExactly(new Numbered(1));
    }

    @EachBuiltIn
    @SuppressWarnings("CollectionIncompatibleType") // an element of another type is not in the queue
    void the_queue_finds_and_removes_by_equality(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        queue.addAll(tasks(3));
        queue.addAll(tasks(3));

        assertThat(queue.contains(new Numbered(2))).isTrue();
        assertThat(queue.contains(new Numbered(3))).isFalse();
        assertThat(queue.contains("something else")).isFalse();
        assertThat(queue.containsAll(tasks(3))).isTrue();
        assertThat(queue.remove(new Numbered(1))).isTrue();
        assertThat(numbers(queue)).as("the first of the equal tasks is removed").containsExactly(0, 2, 0, 1, 2);
        assertThat(queue.remove(new Numbered(1))).isTrue();
        assertThat(queue.remove(new Numbered(1))).isFalse();
        assertThat(queue.remove("something else")).isFalse();
        assertThat(numbers(queue)).containsExactly(0, 2, 0, 2);
        assertThat(queue.removeAll(List.of(new Numbered(0)))).isTrue();
        assertThat(queue.removeAll(List.of(new Numbered(0)))).isFalse();
        assertThat(numbers(queue)).containsExactly(2, 2);
        assertThat(queue.retainAll(List.of(new Numbered(2)))).isFalse();
        assertThat(queue.retainAll(List.of())).isTrue();
        assertThat(queue).isEmpty();
    }

    private static List<Integer> numbers(Iterable<? extends Runnable> tasks) {
        List<Integer> numbers = new ArrayList<>();
        tasks.forEach(task -> numbers.add(((Numbered) task).number));
        return numbers;
    }

    @EachBuiltIn
    void one_of_two_equal_tasks_is_removed(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        Runnable twice = new Numbered(7);
        queue.addAll(List.of(twice, new Numbered(1), twice));

        assertThat(queue.remove(twice)).isTrue();
        assertThat(numbers(queue)).containsExactly(1, 7);
        queue.add(twice);
        assertThat(queue.removeIf(task -> task == twice)).isTrue();
        assertThat(numbers(queue)).containsExactly(1);
    }

    @EachBuiltIn
    void an_iterator_returns_the_tasks_in_order_and_removes_them(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 1000);
        queue.addAll(tasks(300));
        Iterator<Runnable> iterator = queue.iterator();
        assertThatIllegalStateException().isThrownBy(iterator::remove);
        List<Integer> seen = new ArrayList<>();
        while (iterator.hasNext()) {
            int number = ((Numbered) iterator.next()).number;
            seen.add(number);
            if (number % 3 != 0) {
                iterator.remove();
                assertThatIllegalStateException().isThrownBy(iterator::remove);
            }
        }
        assertThatThrownBy(iterator::next).isInstanceOf(NoSuchElementException.class);

        assertThat(seen).isEqualTo(numbers(tasks(300)));
        assertThat(queue).hasSize(100);
        assertThat(numbers(queue)).allMatch(number -> number % 3 == 0).isSorted();
    }

    @EachBuiltIn
    void any_task_of_a_long_queue_can_be_found_and_removed(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, Integer.MAX_VALUE);
        List<Runnable> model = new ArrayList<>(tasks(1_500));
        queue.addAll(model);
        assertThat(queue.toArray()).isEqualTo(model.toArray());
        assertThat(queue.contains(new Numbered(256))).isTrue();

        for (int number : List.of(256, 0, 255, 1_499, 512, 257, 1_024)) {
            assertThat(queue.remove(new Numbered(number))).isTrue();
            assertThat(queue.contains(new Numbered(number))).isFalse();
            model.remove(new Numbered(number));
            assertThat(queue.toArray()).isEqualTo(model.toArray());
        }
        queue.removeIf(task -> ((Numbered) task).number % 5 == 0);
        model.removeIf(task -> ((Numbered) task).number % 5 == 0);

        List<Runnable> drained = new ArrayList<>();
        queue.drainTo(drained);
        assertThat(drained).isEqualTo(model);
    }

    @EachBuiltIn
    void an_iterator_tolerates_concurrent_changes(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 1000);
        queue.addAll(tasks(10));
        Iterator<Runnable> iterator = queue.iterator();
        assertThat(iterator.next()).isEqualTo(new Numbered(0));
        queue.clear();
        queue.add(new Numbered(99));

        iterator.remove(); // it has already been removed
        iterator.forEachRemaining(task -> assertThat(((Numbered) task).number).isBetween(1, 99));

        assertThat(queue).containsExactly(new Numbered(99));
    }

    @EachBuiltIn
    @SuppressWarnings("CollectionToArraySafeParameter") // it must be refused
    void arrays_of_the_queue_are_copies_in_order(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        List<Runnable> tasks = tasks(3);
        queue.addAll(tasks);

        assertThat(queue.toArray()).containsExactlyElementsOf(new ArrayList<Object>(tasks));
        assertThat(queue.toArray(new Runnable[0])).containsExactlyElementsOf(tasks);
        assertThat(queue.toArray(Runnable[]::new)).containsExactlyElementsOf(tasks);
        Runnable[] larger = new Runnable[5];
        Arrays.fill(larger, new Numbered(9));
        assertThat(queue.toArray(larger)).isSameAs(larger);
        assertThat(larger).startsWith(tasks.toArray(new Runnable[0]));
        assertThat(larger[3]).isNull();
        assertThatThrownBy(() -> queue.toArray(new String[0])).isInstanceOf(ArrayStoreException.class);
        queue.toArray()[0] = "the array is the caller's";
        assertThat(queue).containsExactlyElementsOf(tasks);
        assertThat(queue.stream().toList()).isEqualTo(tasks);
        assertThat(queue).hasToString(tasks.toString());
    }

    @EachBuiltIn
    void drainTo_removes_up_to_the_maximum_in_order(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 100);
        queue.addAll(tasks(10));
        List<Runnable> target = new ArrayList<>();

        assertThat(queue.drainTo(target, 0)).isZero();
        assertThat(queue.drainTo(target, -1)).isZero();
        assertThat(queue.drainTo(target, 3)).isEqualTo(3);
        assertThat(queue.drainTo(target, 100)).isEqualTo(7);
        assertThat(queue.drainTo(target)).isZero();

        assertThat(numbers(target)).isEqualTo(numbers(tasks(10)));
        assertThat(queue).isEmpty();
    }

    @EachBuiltIn
    void tasks_taken_by_other_threads_are_counted_as_removed_and_never_run(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 100);
        BlockingTask blocker = pools.occupy(pool);
        for (int i = 0; i < 10; i++) {
            pool.execute(() -> {
                throw new AssertionError("it was taken out");
            });
        }
        BlockingQueue<Runnable> queue = pool.getQueue();
        queue.poll();
        queue.take();
        queue.poll(1, TimeUnit.SECONDS);
        queue.remove();
        queue.remove(queue.peek());
        queue.drainTo(new ArrayList<>(), 2);
        Iterator<Runnable> iterator = queue.iterator();
        iterator.next();
        iterator.remove();
        assertThat(pool.stats().removed()).isEqualTo(8);
        assertThat(pool.getTaskCount()).isEqualTo(3);
        queue.clear();
        blocker.release();
        TestPools.awaitCompleted(pool, 1);

        assertThat(pool.stats().removed()).isEqualTo(10);
        assertThat(pool.stats().accepted()).isEqualTo(11);
    }

    @EachBuiltIn
    void an_idle_thread_runs_a_task_put_into_the_queue_directly(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 100);
        pool.prestartCoreThread();
        BlockingTask blocker = pools.blocker();

        pool.getQueue().put(blocker);

        blocker.awaitBegun();
        assertThat(pool.getActiveCount()).isEqualTo(1);
    }

    @Test
    void an_unbounded_queue_has_the_maximum_capacity_and_holds_many_tasks() throws Exception {
        for (QueueKind queueKind : List.of(QueueKind.BUILT_IN, QueueKind.BUILT_IN_PRIORITY)) {
            BlockingQueue<Runnable> queue = queue(queueKind, Integer.MAX_VALUE);
            assertThat(queue.remainingCapacity()).isEqualTo(Integer.MAX_VALUE);
            for (int i = 0; i < 100_000; i++) {
                queue.put(new Numbered(i));
            }
            assertThat(queue.remainingCapacity()).isEqualTo(Integer.MAX_VALUE);
            assertThat(queue.size()).isEqualTo(100_000);
            for (int i = 0; i < 100_000; i++) {
                assertThat(((Numbered) queue.poll()).number).isEqualTo(i);
            }
        }
    }

    @EachBuiltIn
    void random_operations_agree_with_the_queue_of_the_jdk(QueueKind queueKind) throws Exception {
        for (int seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            int capacity = 1 + random.nextInt(200);
            BlockingQueue<Runnable> queue = queue(queueKind, capacity);
            BlockingQueue<Runnable> model = new LinkedBlockingQueue<>(capacity);
            for (int step = 0; step < 2_000; step++) {
                Runnable task = new Numbered(random.nextInt(50));
                int dice = random.nextInt(100);
                if (dice < 50) {
                    assertThat(queue.offer(task)).isEqualTo(model.offer(task));
                } else if (dice < 90) {
                    assertThat(queue.poll()).isSameAs(model.poll());
                } else if (dice < 96) {
                    assertThat(queue.remove(task)).isEqualTo(model.remove(task));
                } else if (dice < 98) {
                    int divisor = 2 + random.nextInt(5);
                    assertThat(queue.removeIf(each -> ((Numbered) each).number % divisor == 0))
                            .isEqualTo(model.removeIf(each -> ((Numbered) each).number % divisor == 0));
                } else {
                    List<Runnable> drained = new ArrayList<>();
                    List<Runnable> expected = new ArrayList<>();
                    int most = random.nextInt(20);
                    assertThat(queue.drainTo(drained, most)).isEqualTo(model.drainTo(expected, most));
                    assertThat(drained).isEqualTo(expected);
                }
                assertThat(queue.size()).isEqualTo(model.size());
                assertThat(queue.remainingCapacity()).isEqualTo(model.remainingCapacity());
                assertThat(queue.peek()).isSameAs(model.peek());
                if (step % 50 == 0) {
                    assertThat(queue.toArray()).isEqualTo(model.toArray());
                    assertThat(queue).containsExactlyElementsOf(model);
                }
            }
        }
    }

    @EachBuiltIn
    void concurrent_putters_and_takers_lose_and_duplicate_no_task(QueueKind queueKind) throws Exception {
        BlockingQueue<Runnable> queue = queue(queueKind, 16);
        ConcurrentLinkedQueue<Integer> taken = new ConcurrentLinkedQueue<>();
        List<Callable<Object>> actors = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int first = i * 10_000;
            actors.add(() -> {
                for (int number = first; number < first + 10_000; number++) {
                    if (number % 2 == 0) {
                        queue.put(new Numbered(number));
                    } else {
                        Runnable task = new Numbered(number);
                        Wait.until(() -> queue.offer(task));
                    }
                }
                return null;
            });
            actors.add(() -> {
                for (int n = 0; n < 10_000; n++) {
                    taken.add(((Numbered) queue.take()).number);
                }
                return null;
            });
        }

        Together.together(actors);

        assertThat(queue).isEmpty();
        assertThat(taken).hasSize(30_000);
        assertThat(new HashSet<>(taken)).hasSize(30_000);
    }

    @Test
    void tasks_of_a_higher_priority_come_first_and_those_of_equal_priority_in_order() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("ranked")
                .threads(1)
                .priority(task -> task instanceof Numbered numbered ? numbered.number : 0)
                .build());
        BlockingTask blocker = pools.occupy(pool);
        BlockingQueue<Runnable> queue = pool.getQueue();
        Random random = new Random(42);
        List<Runnable> expected = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Runnable task = new Numbered(random.nextInt(10) - 5);
            expected.add(task);
            pool.execute(task);
        }
        expected.sort((a, b) -> Integer.compare(((Numbered) b).number, ((Numbered) a).number)); // stable

        assertThat(queue.peek()).isSameAs(expected.getFirst());
        assertThat(queue).hasSize(1_000);
        Iterator<Runnable> iterator = queue.iterator();
        for (Runnable task : expected) {
            assertThat(iterator.next()).isSameAs(task);
        }
        List<Runnable> drained = new ArrayList<>();
        queue.drainTo(drained);
        for (int i = 0; i < 1_000; i++) {
            assertThat(drained.get(i)).isSameAs(expected.get(i));
        }
        blocker.release();
    }

    @Test
    void the_priority_function_is_called_once_with_the_submitted_task() throws Exception {
        List<Object> asked = new ArrayList<>();
        ThreadPool pool = pools.keep(ThreadPool.builder("ranked")
                .threads(1)
                .priority(task -> {
                    asked.add(task);
                    return 0;
                })
                .build());
        BlockingTask blocker = pools.occupy(pool);
        asked.clear();
        Callable<String> callable = () -> "value";
        Runnable runnable = new Numbered(1);

        pool.submit(callable);
        pool.execute(runnable);
        pool.submit(runnable);
        blocker.release();
        TestPools.awaitCompleted(pool, 4);

        assertThat(asked).containsExactly(callable, runnable, runnable);
    }
}
