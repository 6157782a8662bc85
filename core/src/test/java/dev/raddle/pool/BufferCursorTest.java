package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Together;
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

/** The cursors of a buffer under concurrent changes. */
class BufferCursorTest {

    /** A task with a number. */
    private record Numbered(int number) implements Runnable {
        @Override
        public void run() {}
    }

    enum Kind {
        FIFO,
        RANKED;

        TaskBuffer make() {
            return this == FIFO ? new FifoBuffer(Integer.MAX_VALUE) : new RankedBuffer(Integer.MAX_VALUE);
        }
    }

    private static List<Numbered> fill(TaskBuffer buffer, int count) {
        List<Numbered> tasks = IntStream.range(0, count).mapToObj(Numbered::new).toList();
        tasks.forEach(task -> buffer.offer(task, 0, 0));
        return tasks;
    }

    private static List<Runnable> remaining(TaskBuffer.Cursor cursor) {
        List<Runnable> tasks = new ArrayList<>();
        for (Runnable task; (task = cursor.next()) != null; ) {
            tasks.add(task);
        }
        return tasks;
    }

    @ParameterizedTest
    @EnumSource
    void a_search_near_the_front_reads_a_few_tasks_of_many(Kind kind) {
        TaskBuffer buffer = kind.make();
        List<Numbered> tasks = fill(buffer, 100_000);
        TaskBuffer.Cursor cursor = buffer.cursor();

        assertThat(cursor.next()).isSameAs(tasks.getFirst());

        assertThat(Arrays.stream(cursor.tasks).filter(Objects::nonNull)).hasSizeLessThanOrEqualTo(64);
        cursor.mark();
        assertThat(cursor.removeMarked()).isTrue();
        assertThat(cursor.removeMarked()).as("a second time").isFalse();
        assertThat(buffer.size()).isEqualTo(99_999);
    }

    @ParameterizedTest
    @EnumSource
    void a_buffer_is_unlocked_between_two_reads_of_a_cursor(Kind kind) {
        TaskBuffer buffer = kind.make();
        List<Numbered> tasks = fill(buffer, 2_000);
        TaskBuffer.Cursor cursor = buffer.cursor();
        for (int i = 0; i < 700; i++) {
            assertThat(cursor.next()).isSameAs(tasks.get(i));
        }

        for (int i = 0; i < 500; i++) {
            assertThat(buffer.poll(new TaskBuffer.Timestamp())).isSameAs(tasks.get(i));
        }
        assertThat(buffer.offer(new Numbered(2_000), 0, 0)).isTrue();

        List<Runnable> remaining = remaining(cursor);
        assertThat(remaining).startsWith(tasks.get(700)).hasSize(1_301).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource
    void a_cursor_continues_after_the_tasks_before_and_behind_it_are_removed(Kind kind) {
        TaskBuffer buffer = kind.make();
        List<Numbered> tasks = fill(buffer, 3_000);
        TaskBuffer.Cursor cursor = buffer.cursor();
        for (int i = 0; i < 1_000; i++) {
            cursor.next();
        }

        for (int i = 0; i < 900; i++) {
            buffer.poll(new TaskBuffer.Timestamp());
        }
        TaskBuffer.Cursor remover = buffer.cursor();
        while (remover.removeNext(task -> ((Numbered) task).number < 2_900) != null) {
            assertThat(buffer.size()).isPositive();
        }

        List<Runnable> remaining = remaining(cursor);
        assertThat(remaining).endsWith(tasks.subList(2_900, 3_000).toArray(new Numbered[0]));
        assertThat(remaining).doesNotHaveDuplicates();
        assertThat(buffer.peek()).isSameAs(tasks.get(2_900));
        assertThat(buffer.size()).isEqualTo(100);
    }

    @ParameterizedTest
    @EnumSource
    void a_cursor_continues_with_a_task_added_after_all_others_were_removed(Kind kind) {
        TaskBuffer buffer = kind.make();
        fill(buffer, 100);
        TaskBuffer.Cursor cursor = buffer.cursor();
        cursor.next();
        while (buffer.poll(new TaskBuffer.Timestamp()) != null) {
            assertThat(buffer.size()).isNotNegative();
        }
        Numbered late = new Numbered(100);
        buffer.offer(late, 0, 0);

        assertThat(remaining(cursor)).endsWith(late);
        assertThat(remaining(buffer.cursor())).containsExactly(late);
    }

    @Test
    void a_cursor_returns_tasks_in_order_while_ranks_are_emptied() {
        RankedBuffer buffer = new RankedBuffer(Integer.MAX_VALUE);
        for (int i = 0; i < 300; i++) {
            buffer.offer(new Numbered(i), i % 3, 0);
        }
        TaskBuffer.Cursor cursor = buffer.cursor();
        for (int i = 0; i < 150; i++) {
            cursor.next();
        }
        TaskBuffer.Cursor remover = buffer.cursor();
        while (remover.removeNext(task -> ((Numbered) task).number % 3 == 1) != null) {
            assertThat(buffer.size()).isPositive();
        }
        for (int i = 0; i < 100; i++) {
            assertThat(((Numbered) Objects.requireNonNull(buffer.poll(new TaskBuffer.Timestamp()))).number % 3)
                    .isEqualTo(2);
        }

        List<Runnable> remaining = remaining(cursor);
        assertThat(remaining.stream().filter(task -> ((Numbered) task).number % 3 == 0))
                .hasSize(100);
        assertThat(buffer.size()).isEqualTo(100);
    }

    @Test
    void tasks_removed_behind_a_remaining_one_retain_no_memory() {
        FifoBuffer buffer = new FifoBuffer(Integer.MAX_VALUE);
        Numbered remaining = new Numbered(-1);
        buffer.offer(remaining, 0, 0);
        for (int i = 0; i < 100_000; i++) {
            Numbered task = new Numbered(i);
            buffer.offer(task, 0, 0);
            assertThat(buffer.cursor().removeNext(each -> each == task)).isSameAs(task);
        }

        assertThat(buffer.segmentCount()).isLessThanOrEqualTo(4);
        assertThat(buffer.size()).isEqualTo(1);
        assertThat(buffer.poll(new TaskBuffer.Timestamp())).isSameAs(remaining);
        assertThat(buffer.poll(new TaskBuffer.Timestamp())).isNull();
        buffer.offer(remaining, 0, 0);
        assertThat(buffer.poll(new TaskBuffer.Timestamp())).isSameAs(remaining);
    }

    @Test
    void a_removal_frees_capacity_of_a_bounded_buffer() {
        FifoBuffer buffer = new FifoBuffer(300);
        fill(buffer, 300);
        assertThat(buffer.offer(new Numbered(300), 0, 0)).isFalse();
        Random random = new Random(7);
        for (int i = 300; i < 5_000; i++) {
            int number = i - 1 - random.nextInt(300);
            if (buffer.cursor().removeNext(task -> ((Numbered) task).number >= number) != null) {
                assertThat(buffer.offer(new Numbered(i), 0, 0)).isTrue();
            } else {
                assertThat(buffer.poll(new TaskBuffer.Timestamp())).isNotNull();
                assertThat(buffer.offer(new Numbered(i), 0, 0)).isTrue();
            }
            assertThat(buffer.offer(new Numbered(i), 0, 0)).isFalse();
            assertThat(buffer.size()).isEqualTo(300);
        }
        assertThat(remaining(buffer.cursor())).hasSize(300);
    }

    @ParameterizedTest
    @EnumSource
    void concurrent_takers_removers_and_cursors_get_each_task_once(Kind kind) throws Exception {
        int count = 30_000;
        TaskBuffer buffer = kind.make();
        ConcurrentLinkedQueue<Runnable> removedTasks = new ConcurrentLinkedQueue<>();
        AtomicBoolean isFilled = new AtomicBoolean();
        Callable<Object> put = () -> {
            fill(buffer, count);
            isFilled.set(true);
            return null;
        };
        Callable<Object> take = () -> {
            TaskBuffer.Timestamp stamp = new TaskBuffer.Timestamp();
            while (!isFilled.get() || buffer.size() > 0) {
                Runnable task = buffer.poll(stamp);
                if (task != null) {
                    removedTasks.add(task);
                }
            }
            return null;
        };
        Callable<Object> remove = () -> {
            while (!isFilled.get() || buffer.size() > 0) {
                Runnable removed = buffer.cursor().removeNext(task -> ((Numbered) task).number % 7 == 3);
                if (removed != null) {
                    removedTasks.add(removed);
                }
            }
            return null;
        };
        Callable<Object> iterate = () -> {
            while (!isFilled.get() || buffer.size() > 0) {
                assertThat(remaining(buffer.cursor()).stream()
                                .mapToInt(task -> ((Numbered) task).number)
                                .toArray())
                        .isSorted()
                        .doesNotHaveDuplicates();
            }
            return null;
        };

        Together.together(List.of(put, take, remove, iterate));

        assertThat(removedTasks).hasSize(count).doesNotHaveDuplicates();
        assertThat(buffer.size()).isZero();
    }
}
