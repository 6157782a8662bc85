package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StopTest {
    private static Process sleeper() throws Exception {
        return new ProcessBuilder("sleep", "600").start();
    }

    @Test
    void running_trees_are_ended_and_so_is_one_registered_later() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process before = sleeper();
        Process after = sleeper();
        stop.register(ProcessTree.of(before.toHandle()));

        stop.request(Stop.Reason.FAIL_FAST);
        stop.register(ProcessTree.of(after.toHandle()));

        assertThat(before.waitFor()).isEqualTo(143);
        assertThat(after.waitFor()).isEqualTo(143);
    }

    @Test
    void an_unregistered_tree_is_not_ended() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process process = sleeper();
        ProcessTree tree = ProcessTree.of(process.toHandle());
        stop.register(tree);
        stop.unregister(tree);

        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(process.isAlive()).isTrue();
        process.destroyForcibly();
    }

    @Test
    void kill_does_not_wait() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process stubborn =
                new ProcessBuilder("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done").start();
        stubborn.inputReader().readLine();
        stop.register(ProcessTree.of(stubborn.toHandle()));

        stop.request(Stop.Reason.INTERRUPTED);
        stop.kill();

        assertThat(stubborn.waitFor()).isEqualTo(137);
    }

    @Test
    void a_drain_does_not_end_running_trees_and_a_request_cuts_it_short() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        List<String> calls = new ArrayList<>();
        stop.onRequest(reason -> calls.add("told " + reason));
        stop.onDrain(() -> calls.add("drain"), () -> calls.add("cut"));
        Process process = sleeper();
        stop.register(ProcessTree.of(process.toHandle()));

        stop.drain();
        stop.drain();
        assertThat(stop.isRequested()).isTrue();
        assertThat(stop.isEnding()).isFalse();
        stop.awaitOr(new CompletableFuture<>());
        stop.request(Stop.Reason.FAIL_FAST);
        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(process.isAlive()).isTrue(); // the thread that waits for the process ends it
        assertThat(calls).containsExactly("drain", "told TERMINATED", "cut");
        assertThat(stop.isEnding()).isTrue();
        assertThat(stop.isDrained()).isTrue();
        assertThat(stop.reason()).isEqualTo(Stop.Reason.TERMINATED);
        process.destroyForcibly();
    }

    @Test
    void a_requested_stop_cannot_become_a_drain() {
        Stop stop = new Stop(Duration.ZERO);
        stop.request(Stop.Reason.FAIL_FAST);

        stop.drain();

        assertThat(stop.isDrained()).isFalse();
        assertThat(stop.reason()).isEqualTo(Stop.Reason.TERMINATED);
    }

    @Test
    void the_listener_is_called_once_before_any_effect() throws Exception {
        Stop stop = new Stop(Duration.ZERO);
        List<String> notified = new ArrayList<>();
        stop.onRequest(reason -> notified.add(reason + " " + stop.isRequested()));

        stop.request(Stop.Reason.FAIL_FAST);
        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(notified).containsExactly("FAIL_FAST false");
        assertThat(stop.reason()).isEqualTo(Stop.Reason.INTERRUPTED);
    }

    @Test
    void a_waiting_thread_is_woken() throws Exception {
        Stop stop = new Stop(Duration.ZERO);
        assertThat(stop.await(Duration.ofMillis(1))).isFalse();

        Thread.ofVirtual().start(() -> stop.request(Stop.Reason.INTERRUPTED));

        assertThat(stop.await(Duration.ofMinutes(5))).isTrue();
        stop.awaitOr(new CompletableFuture<>());
    }
}
