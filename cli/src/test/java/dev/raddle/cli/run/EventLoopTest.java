package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EventLoopTest {
    private static RunEvent event(String id) {
        return new RunEvent.TaskQueued(Instant.EPOCH, id, "g");
    }

    @Test
    void every_listener_receives_every_event_in_the_order_of_its_poster() {
        Recorder one = new Recorder();
        Recorder two = new Recorder();
        try (EventLoop loop = new EventLoop(List.of(one, two), (listener, e) -> {}).start()) {
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (String poster : List.of("a", "b", "c")) {
                    threads.submit(() -> IntStream.range(0, 2000).forEach(i -> loop.post(event(poster + i))));
                }
            }
            loop.flush();
            assertThat(one.events()).hasSize(6000);
        }
        assertThat(two.events()).isEqualTo(one.events());
        List<String> ofB = one.all(RunEvent.TaskQueued.class).stream()
                .map(RunEvent.TaskQueued::id)
                .filter(id -> id.startsWith("b"))
                .toList();
        assertThat(ofB)
                .containsExactlyElementsOf(
                        IntStream.range(0, 2000).mapToObj(i -> "b" + i).toList());
    }

    @Test
    void a_failed_listener_is_reported_and_not_called_again_and_others_continue() {
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        List<RunEvent> heard = new ArrayList<>();
        RunListener broken = event -> {
            heard.add(event);
            throw new IOException("disk full");
        };
        RunListener worse = event -> {
            throw new StackOverflowError("too deep");
        };
        Recorder sound = new Recorder();
        try (EventLoop loop = new EventLoop(List.of(broken, worse, sound), (listener, e) -> failures.add(e)).start()) {
            loop.post(event("a"));
            loop.post(event("b"));
        }

        assertThat(heard).hasSize(1);
        assertThat(sound.events()).hasSize(2);
        assertThat(failures).extracting(Throwable::getMessage).containsExactly("disk full", "too deep");
    }

    @Test
    void an_action_that_throws_is_reported_and_the_events_after_it_are_delivered() {
        IllegalStateException broken = new IllegalStateException("terminal is gone");
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        Recorder sound = new Recorder();
        try (EventLoop loop = new EventLoop(List.of(sound), (listener, e) -> failures.add(e)).start()) {
            loop.runLater(() -> {
                throw broken;
            });
            loop.post(event("a"));
        }

        assertThat(sound.events()).hasSize(1);
        assertThat(failures).containsExactly(broken);
    }

    @Test
    void posting_later_never_waits_and_loses_no_event() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Recorder recorder = new Recorder();
        RunListener slow = event -> {
            stuck.countDown();
            awaitUninterruptibly(go);
        };
        try (EventLoop loop = new EventLoop(List.of(slow, recorder), (listener, e) -> {}).start()) {
            loop.post(event("first"));
            stuck.await();
            IntStream.range(0, 3000).forEach(i -> loop.postLater(event("x" + i))); // more than fit into the queue
            go.countDown();
            recorder.await(
                    RunEvent.TaskQueued.class, queued -> recorder.events().size() == 3001);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void an_interrupted_poster_loses_no_event_and_stays_interrupted() {
        Recorder recorder = new Recorder();
        try (EventLoop loop = new EventLoop(List.of(recorder), (listener, e) -> {}).start()) {
            Thread.currentThread().interrupt();
            loop.post(event("a"));
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(recorder.events()).hasSize(1);
    }
}
