package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Scheduler;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events of a pool in a flight recording. */
class PoolRecordingTest {

    private static final String EVENT = "dev.raddle.PoolTask";

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();

    @TempDir
    private Path directory;

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** A task whose class has a name that a recording can show. */
    private static final class FailingTask implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("simulated");
        }
    }

    private List<RecordedEvent> eventsOf(String pool, Recording recording) throws Exception {
        Path file = directory.resolve("pool.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(EVENT))
                .filter(event -> event.getString("pool").equals(pool))
                .toList();
    }

    @Test
    void a_recording_has_the_events_that_a_listener_receives() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(EVENT);
            recording.start();
            ThreadPool pool = pools.keep(ThreadPool.builder("recorded")
                    .threads(1)
                    .queueCapacity(1)
                    .timeSource(time)
                    .threadFactory(task -> {
                        Thread thread = new Thread(task, "runner");
                        thread.setUncaughtExceptionHandler((dying, thrown) -> {});
                        return thread;
                    })
                    .build());
            BlockingTask blocker = pools.occupy(pool);
            pool.execute(new FailingTask());
            try {
                pool.execute(() -> {});
            } catch (RejectedExecutionException expected) {
                assertThat(expected).hasMessageContaining("rejected");
            }
            time.advance(Duration.ofSeconds(2));
            blocker.release();
            TestPools.awaitCompleted(pool, 2);
            pools.occupy(pool);
            Callable<String> callable = () -> "never";
            pool.submit(callable);
            pool.shutdownNow();
            pool.close();

            List<RecordedEvent> events = eventsOf("recorded", recording);
            assertThat(events)
                    .extracting(event -> event.getString("what"))
                    .containsExactlyInAnyOrder("ended", "rejected", "ended", "ended", "handed back");
            assertThat(events)
                    .filteredOn(event -> event.getString("task").equals(FailingTask.class.getName()))
                    .singleElement()
                    .satisfies(event -> {
                        assertThat(event.getString("runner")).isEqualTo("runner");
                        assertThat(event.getString("failure")).contains("simulated");
                        assertThat(event.getDuration("waited")).isEqualTo(Duration.ofSeconds(2));
                        assertThat(event.getDuration("ran")).isZero();
                    });
            assertThat(events)
                    .filteredOn(event -> event.getString("what").equals("ended"))
                    .extracting(event -> event.getDuration("ran"))
                    .contains(Duration.ofSeconds(2));
        }
    }

    /** An event of this test, with the same clock as the pool's events. */
    @Name("dev.raddle.test.InPool")
    static final class InPool extends Event {}

    @Test
    void a_recorded_event_begins_when_its_task_began() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(EVENT);
            recording.enable(InPool.class);
            recording.start();
            ThreadPool pool =
                    pools.keep(ThreadPool.builder("recorded").threads(1).build());
            pool.submit(() -> new InPool().commit()).get();
            pool.close();

            RecordedEvent task = eventsOf("recorded", recording).getFirst();
            Path file = directory.resolve("marks.jfr");
            recording.dump(file);
            RecordedEvent mark = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().equals("dev.raddle.test.InPool"))
                    .findFirst()
                    .orElseThrow();
            assertThat(task.getStartTime()).isBeforeOrEqualTo(mark.getStartTime());
            assertThat(task.getEndTime()).isAfterOrEqualTo(mark.getEndTime());
        }
    }

    private record Import(String name) implements NamedTask, Runnable {
        @Override
        public void run() {}
    }

    @Test
    void a_recording_names_tasks_by_their_names_and_lambdas_by_their_class() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(EVENT);
            recording.start();
            ThreadPool pool =
                    pools.keep(ThreadPool.builder("recorded").threads(1).build());
            pool.submit(new Import("import-7")).get();
            pool.submit(() -> "value").get();
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                            .scheduler(key -> Scheduler.from(pool))
                            .build());
                    ThreadScope scope = ThreadScope.open("scope").withScheduler(Scheduler.from(pool))) {
                executor.submit("tenant-a", "t1", () -> "value").await();
                scope.submit("price", () -> "value").await();
            }
            FlowBuilder<Void> f = FlowPlan.define("checkout");
            f.node("order", () -> "value");
            f.build().run(null, RunOptions.defaults().withScheduler(Scheduler.from(pool)));
            pool.close();

            assertThat(eventsOf("recorded", recording))
                    .extracting(event -> event.getString("task"))
                    .containsExactly(
                            "import-7",
                            "lambda in " + PoolRecordingTest.class.getName(),
                            "t1",
                            "price",
                            "flow \"checkout\"");
        }
    }

    @Test
    void the_wait_time_of_a_handed_back_task_begins_at_its_acceptance() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(EVENT);
            recording.start();
            ThreadPool pool = pools.keep(
                    ThreadPool.builder("recorded").threads(1).timeSource(time).build());
            BlockingTask blocker = pools.occupy(pool);
            pool.execute(new Import("first"));
            time.advance(Duration.ofSeconds(2));
            pool.execute(new Import("second"));
            time.advance(Duration.ofSeconds(3));
            pool.shutdownNow();
            blocker.release();
            pool.close();

            assertThat(eventsOf("recorded", recording))
                    .filteredOn(event -> event.getString("what").equals("handed back"))
                    .extracting(event -> event.getString("task"), event -> event.getDuration("waited"))
                    .containsExactly(tuple("first", Duration.ofSeconds(5)), tuple("second", Duration.ofSeconds(3)));
        }
    }

    @Test
    void a_recording_that_does_not_enable_the_event_has_none() throws Exception {
        try (Recording recording = new Recording()) {
            recording.start();
            ThreadPool pool = pools.keep(ThreadPool.builder("unrecorded").build());
            pool.submit(() -> {}).get();
            pool.close();

            assertThat(eventsOf("unrecorded", recording)).isEmpty();
        }
    }
}
