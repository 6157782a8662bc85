package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a flight recording has of a pool. */
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
    private static final class Failing implements Runnable {
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

    // K8
    @Test
    void a_recording_has_the_facts_that_a_listener_is_told() throws Exception {
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
            Plug plug = pools.occupy(pool);
            pool.execute(new Failing());
            try {
                pool.execute(() -> {});
            } catch (RejectedExecutionException expected) {
                assertThat(expected).hasMessageContaining("rejected");
            }
            time.advance(Duration.ofSeconds(2));
            plug.letGo();
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
                    .filteredOn(event -> event.getString("task").equals(Failing.class.getName()))
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

    // K8
    @Test
    void a_recording_that_does_not_ask_for_it_has_nothing_of_it() throws Exception {
        try (Recording recording = new Recording()) {
            recording.start();
            ThreadPool pool = pools.keep(ThreadPool.builder("unrecorded").build());
            pool.submit(() -> {}).get();
            pool.close();

            assertThat(eventsOf("unrecorded", recording)).isEmpty();
        }
    }
}
