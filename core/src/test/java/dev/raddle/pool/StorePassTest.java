package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Looking into a store while others use it. */
class StorePassTest {

    /** A task with a number, and a rank for stores that have one. */
    private record Numbered(int number) implements Runnable {
        @Override
        public void run() {}
    }

    enum Kind {
        FIFO,
        RANKED;

        Store make() {
            return this == FIFO ? new FifoStore(Integer.MAX_VALUE) : new RankedStore(Integer.MAX_VALUE);
        }
    }

    private static List<Numbered> fill(Store store, int count) {
        List<Numbered> tasks = IntStream.range(0, count).mapToObj(Numbered::new).toList();
        tasks.forEach(task -> store.offer(task, 0, 0));
        return tasks;
    }

    private static List<Runnable> rest(Store.Pass pass) {
        List<Runnable> tasks = new ArrayList<>();
        for (Runnable task; (task = pass.next()) != null; ) {
            tasks.add(task);
        }
        return tasks;
    }

    @ParameterizedTest
    @EnumSource
    void looking_for_what_is_near_the_front_reads_a_few_tasks_of_many(Kind kind) {
        Store store = kind.make();
        List<Numbered> tasks = fill(store, 100_000);
        Store.Pass pass = store.pass();

        assertThat(pass.next()).isSameAs(tasks.getFirst());

        assertThat(Arrays.stream(pass.tasks).filter(Objects::nonNull)).hasSizeLessThanOrEqualTo(64);
        pass.keep();
        assertThat(pass.removeKept()).isTrue();
        assertThat(pass.removeKept()).as("a second time").isFalse();
        assertThat(store.size()).isEqualTo(99_999);
    }

    @ParameterizedTest
    @EnumSource
    void a_store_is_free_between_two_reads_of_a_pass(Kind kind) {
        Store store = kind.make();
        List<Numbered> tasks = fill(store, 2_000);
        Store.Pass pass = store.pass();
        for (int i = 0; i < 700; i++) {
            assertThat(pass.next()).isSameAs(tasks.get(i));
        }

        for (int i = 0; i < 500; i++) {
            assertThat(store.poll(new Store.Stamp())).isSameAs(tasks.get(i));
        }
        assertThat(store.offer(new Numbered(2_000), 0, 0)).isTrue();

        List<Runnable> rest = rest(pass);
        assertThat(rest).startsWith(tasks.get(700)).hasSize(1_301).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource
    void a_pass_goes_on_when_what_it_has_met_and_what_it_would_meet_are_gone(Kind kind) {
        Store store = kind.make();
        List<Numbered> tasks = fill(store, 3_000);
        Store.Pass pass = store.pass();
        for (int i = 0; i < 1_000; i++) {
            pass.next();
        }

        for (int i = 0; i < 900; i++) {
            store.poll(new Store.Stamp());
        }
        Store.Pass remover = store.pass();
        while (remover.removeNext(task -> ((Numbered) task).number < 2_900) != null) {
            assertThat(store.size()).isPositive();
        }

        List<Runnable> rest = rest(pass);
        assertThat(rest).endsWith(tasks.subList(2_900, 3_000).toArray(new Numbered[0]));
        assertThat(rest).doesNotHaveDuplicates();
        assertThat(store.peek()).isSameAs(tasks.get(2_900));
        assertThat(store.size()).isEqualTo(100);
    }

    @ParameterizedTest
    @EnumSource
    void a_pass_goes_on_with_what_came_after_all_others_had_gone(Kind kind) {
        Store store = kind.make();
        fill(store, 100);
        Store.Pass pass = store.pass();
        pass.next();
        while (store.poll(new Store.Stamp()) != null) {
            assertThat(store.size()).isNotNegative();
        }
        Numbered late = new Numbered(100);
        store.offer(late, 0, 0);

        assertThat(rest(pass)).endsWith(late);
        assertThat(rest(store.pass())).containsExactly(late);
    }

    @Test
    void ranks_that_come_and_go_are_met_in_order() {
        RankedStore store = new RankedStore(Integer.MAX_VALUE);
        for (int i = 0; i < 300; i++) {
            store.offer(new Numbered(i), i % 3, 0);
        }
        Store.Pass pass = store.pass();
        for (int i = 0; i < 150; i++) {
            pass.next();
        }
        Store.Pass remover = store.pass();
        while (remover.removeNext(task -> ((Numbered) task).number % 3 == 1) != null) {
            assertThat(store.size()).isPositive();
        }
        for (int i = 0; i < 100; i++) {
            assertThat(((Numbered) Objects.requireNonNull(store.poll(new Store.Stamp()))).number % 3)
                    .isEqualTo(2);
        }

        List<Runnable> rest = rest(pass);
        assertThat(rest.stream().filter(task -> ((Numbered) task).number % 3 == 0))
                .hasSize(100);
        assertThat(store.size()).isEqualTo(100);
    }

    @Test
    void what_is_removed_behind_a_task_that_stays_keeps_no_memory() {
        FifoStore store = new FifoStore(Integer.MAX_VALUE);
        Numbered stays = new Numbered(-1);
        store.offer(stays, 0, 0);
        for (int i = 0; i < 100_000; i++) {
            Numbered task = new Numbered(i);
            store.offer(task, 0, 0);
            assertThat(store.pass().removeNext(each -> each == task)).isSameAs(task);
        }

        assertThat(store.segments()).isLessThanOrEqualTo(4);
        assertThat(store.size()).isEqualTo(1);
        assertThat(store.poll(new Store.Stamp())).isSameAs(stays);
        assertThat(store.poll(new Store.Stamp())).isNull();
        store.offer(stays, 0, 0);
        assertThat(store.poll(new Store.Stamp())).isSameAs(stays);
    }

    @Test
    void a_bounded_store_has_room_again_for_what_was_removed() {
        FifoStore store = new FifoStore(300);
        fill(store, 300);
        assertThat(store.offer(new Numbered(300), 0, 0)).isFalse();
        Random random = new Random(7);
        for (int i = 300; i < 5_000; i++) {
            int number = i - 1 - random.nextInt(300);
            if (store.pass().removeNext(task -> ((Numbered) task).number >= number) != null) {
                assertThat(store.offer(new Numbered(i), 0, 0)).isTrue();
            } else {
                assertThat(store.poll(new Store.Stamp())).isNotNull();
                assertThat(store.offer(new Numbered(i), 0, 0)).isTrue();
            }
            assertThat(store.offer(new Numbered(i), 0, 0)).isFalse();
            assertThat(store.size()).isEqualTo(300);
        }
        assertThat(rest(store.pass())).hasSize(300);
    }

    @ParameterizedTest
    @EnumSource
    void each_task_goes_one_way_although_all_take_remove_and_look_at_once(Kind kind) throws Exception {
        int count = 30_000;
        Store store = kind.make();
        ConcurrentLinkedQueue<Runnable> gone = new ConcurrentLinkedQueue<>();
        AtomicBoolean isFilled = new AtomicBoolean();
        Callable<Object> put = () -> {
            fill(store, count);
            isFilled.set(true);
            return null;
        };
        Callable<Object> take = () -> {
            Store.Stamp stamp = new Store.Stamp();
            while (!isFilled.get() || store.size() > 0) {
                Runnable task = store.poll(stamp);
                if (task != null) {
                    gone.add(task);
                }
            }
            return null;
        };
        Callable<Object> remove = () -> {
            while (!isFilled.get() || store.size() > 0) {
                Runnable removed = store.pass().removeNext(task -> ((Numbered) task).number % 7 == 3);
                if (removed != null) {
                    gone.add(removed);
                }
            }
            return null;
        };
        Callable<Object> look = () -> {
            while (!isFilled.get() || store.size() > 0) {
                assertThat(rest(store.pass()).stream()
                                .mapToInt(task -> ((Numbered) task).number)
                                .toArray())
                        .isSorted()
                        .doesNotHaveDuplicates();
            }
            return null;
        };

        TestPools.together(List.of(put, take, remove, look));

        assertThat(gone).hasSize(count).doesNotHaveDuplicates();
        assertThat(store.size()).isZero();
    }
}
