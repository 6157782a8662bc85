package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The count outside Redis notices one task too many, and blames no process that did not run. */
class PeakFileTest {
    private static final int CAP = 2; // the number of groups, and so the cap's

    @TempDir
    Path directory;

    private PeakFile file;
    private Judge judge;

    @BeforeEach
    void open() {
        file = PeakFile.open(directory.resolve("peaks"), 2);
        file.setLimit(0, 1);
        file.setLimit(1, 2);
        file.setLimit(CAP, 2);
        judge = new Judge(file, Duration.ofSeconds(1));
    }

    @AfterEach
    void close() {
        file.close();
    }

    private long violations() {
        judge.judgeUntil(System.nanoTime());
        return judge.violations();
    }

    @Test
    void a_full_group_is_no_violation() {
        file.enter(0, 1);
        file.enter(1, 1);
        file.leave(0, 1);
        file.enter(2, 1);
        assertThat(violations()).isZero();
        assertThat(file.peak(1)).isEqualTo(2);
        assertThat(file.running(1)).isEqualTo(2);
    }

    @Test
    void one_task_too_many_is_a_violation_of_its_group() {
        file.enter(0, 0);
        file.enter(1, 0);
        assertThat(violations()).isEqualTo(1);
        assertThat(judge.firstViolations())
                .singleElement()
                .hasToString("PERMITS of group 0: 2 by process 1 1 0 0 0 0 0 0");
    }

    @Test
    void one_task_too_many_is_a_violation_of_the_cap() {
        file.enter(0, 0);
        file.enter(1, 1);
        file.enter(2, 1);
        assertThat(violations()).isEqualTo(1);
        assertThat(file.peak(CAP)).isEqualTo(3);
    }

    @Test
    void another_mapping_of_the_file_sees_the_same_counts() {
        file.enter(0, 0);
        try (PeakFile other = PeakFile.open(directory.resolve("peaks"), 2)) {
            other.enter(7, 0);
        }
        assertThat(violations()).isEqualTo(1);
    }

    @Test
    void the_tasks_of_a_dead_process_do_not_count() {
        file.enter(0, 1);
        file.enter(3, 1);
        file.forget(3);
        file.enter(1, 1);
        assertThat(violations()).isZero();
        assertThat(file.running(CAP)).isEqualTo(2);
    }

    @Test
    void the_tasks_of_a_stalled_process_are_late_but_no_violation() {
        file.enter(0, 0);
        long begin = System.nanoTime();
        file.enter(1, 0);
        file.stalled(0, begin, System.nanoTime());
        assertThat(violations()).isZero();
        assertThat(judge.late()).isEqualTo(1);
    }

    @Test
    void a_stalled_process_excuses_no_other_one() {
        file.enter(0, 0);
        long begin = System.nanoTime();
        file.enter(1, 0);
        file.stalled(2, begin, System.nanoTime());
        assertThat(violations()).isEqualTo(1);
    }

    @Test
    void a_stall_of_long_ago_excuses_nothing() {
        long now = System.nanoTime();
        file.stalled(0, now - 3_000_000_000L, now - 2_000_000_000L);
        file.enter(0, 0);
        file.enter(1, 0);
        assertThat(violations()).isEqualTo(1);
    }

    @Test
    void a_fencing_number_below_the_last_one_is_a_violation() {
        file.guard(0, 0, 5);
        file.guard(1, 0, 7);
        file.guard(0, 0, 5);
        assertThat(violations()).isEqualTo(1);
    }

    @Test
    void a_fencing_number_may_be_used_again_by_its_process_only() {
        file.guard(0, 0, 5);
        file.guard(0, 0, 5);
        assertThat(violations()).isZero();
        file.guard(1, 0, 5);
        assertThat(violations()).isEqualTo(1);
    }

    @Test
    void no_count_is_lost_between_threads() throws InterruptedException {
        file.setLimit(1, 100);
        file.setLimit(CAP, 100);
        CountDownLatch begin = new CountDownLatch(1);
        var threads = IntStream.range(0, 4)
                .mapToObj(slot -> Thread.ofPlatform().start(() -> enterAndLeave(begin, slot)))
                .toList();
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(file.running(1)).isZero();
        assertThat(file.running(CAP)).isZero();
        assertThat(file.peak(1)).isBetween(1, 4);
    }

    private void enterAndLeave(CountDownLatch begin, int slot) {
        try {
            begin.await();
        } catch (InterruptedException e) {
            return;
        }
        for (int i = 0; i < 20_000; i++) {
            file.enter(slot, 1);
            file.leave(slot, 1);
        }
    }

    @Test
    void percentiles_are_those_of_the_recorded_times_within_a_quarter() {
        for (int i = 1; i <= 1_000; i++) {
            file.completed(0, 0, i * 1_000_000L);
        }
        assertThat(file.waits().percentile(0.5)).isBetween(500.0, 640.0);
        assertThat(file.waits().percentile(0.99)).isBetween(990.0, 1_250.0);
        assertThat(file.waits().total()).isEqualTo(1_000);
    }
}
