package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.ThreadKind;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadsTest {
    private static final Limits LIMITS = new Limits(
            GroupRule.UNSET,
            Map.of("reports", new GroupRule(4, null, null, null, null, ThreadKind.PLATFORM)),
            256,
            Limits.UNLIMITED,
            null);

    private final Threads threads = new Threads(LIMITS, Duration.ofHours(1), TimeSource.system());

    private static Thread threadOf(Scheduler scheduler) {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        scheduler.execute(() -> thread.complete(Thread.currentThread()));
        return thread.join();
    }

    @Test
    void a_platform_group_has_threads_with_its_name_and_the_others_have_virtual_ones() {
        Thread platform = threadOf(threads.scheduler("reports"));
        Thread virtual = threadOf(threads.scheduler("others"));
        threads.close();

        assertThat(platform.isVirtual()).isFalse();
        assertThat(platform.getName()).startsWith("reports-");
        assertThat(virtual.isVirtual()).isTrue();
    }

    @Test
    void closing_ends_all_threads() throws Exception {
        Thread platform = threadOf(threads.scheduler("reports"));
        Thread virtual = threadOf(threads.scheduler("others"));

        threads.close();

        platform.join(); // with an abandoned pool, join() would wait for its idle time
        virtual.join();
        assertThat(threads.reports().join()).hasSize(2).allMatch(ShutdownReport::terminated);
        assertThat(threads.reports().join().stream().mapToLong(ShutdownReport::accepted))
                .containsExactly(1L, 1L);
    }

    @Test
    void a_group_that_is_first_used_during_a_drain_gets_no_thread() {
        threads.drain();

        assertThatThrownBy(() -> threads.scheduler("reports").execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> threads.scheduler("others").execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void the_grace_period_of_all_pools_can_be_cut_short() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        for (String group : List.of("reports", "others")) {
            threads.scheduler(group).execute(() -> {
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    // the expected interrupt
                }
            });
        }
        begun.await();
        threads.drain();

        threads.endGrace();

        assertThat(threads.reports().join())
                .hasSize(2)
                .allMatch(report -> report.interrupted().size() == 1);
    }
}
