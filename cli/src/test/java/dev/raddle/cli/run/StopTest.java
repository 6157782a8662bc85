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
    void trees_that_run_end_and_so_does_one_that_comes_too_late() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process before = sleeper();
        Process after = sleeper();
        stop.enter(ProcessTree.of(before.toHandle()));

        stop.request(Stop.Reason.FAIL_FAST);
        stop.enter(ProcessTree.of(after.toHandle()));

        assertThat(before.waitFor()).isEqualTo(143);
        assertThat(after.waitFor()).isEqualTo(143);
    }

    @Test
    void a_tree_that_has_left_is_left_alone() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process process = sleeper();
        ProcessTree tree = ProcessTree.of(process.toHandle());
        stop.enter(tree);
        stop.leave(tree);

        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(process.isAlive()).isTrue();
        process.destroyForcibly();
    }

    @Test
    void kill_waits_for_nobody() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        Process stubborn =
                new ProcessBuilder("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done").start();
        stubborn.inputReader().readLine();
        stop.enter(ProcessTree.of(stubborn.toHandle()));

        stop.request(Stop.Reason.INTERRUPTED);
        stop.kill();

        assertThat(stubborn.waitFor()).isEqualTo(137);
    }

    @Test
    void a_drain_leaves_alone_what_runs_and_a_request_cuts_it_short() throws Exception {
        Stop stop = new Stop(Duration.ofMinutes(5));
        List<String> calls = new ArrayList<>();
        stop.onRequest(reason -> calls.add("told " + reason));
        stop.onDrain(() -> calls.add("drain"), () -> calls.add("cut"));
        Process process = sleeper();
        stop.enter(ProcessTree.of(process.toHandle()));

        stop.drain();
        stop.drain();
        assertThat(stop.isRequested()).isTrue();
        assertThat(stop.isEnding()).isFalse();
        stop.awaitOr(new CompletableFuture<>());
        stop.request(Stop.Reason.FAIL_FAST);
        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(process.isAlive()).isTrue(); // to end it is for the thread that waits for it
        assertThat(calls).containsExactly("drain", "told TERMINATED", "cut");
        assertThat(stop.isEnding()).isTrue();
        assertThat(stop.isDrained()).isTrue();
        assertThat(stop.reason()).isEqualTo(Stop.Reason.TERMINATED);
        process.destroyForcibly();
    }

    @Test
    void what_is_being_ended_is_not_drained_any_more() {
        Stop stop = new Stop(Duration.ZERO);
        stop.request(Stop.Reason.FAIL_FAST);

        stop.drain();

        assertThat(stop.isDrained()).isFalse();
        assertThat(stop.reason()).isEqualTo(Stop.Reason.TERMINATED);
    }

    @Test
    void it_is_told_once_before_anything_follows_from_it() throws Exception {
        Stop stop = new Stop(Duration.ZERO);
        List<String> told = new ArrayList<>();
        stop.onRequest(reason -> told.add(reason + " " + stop.isRequested()));

        stop.request(Stop.Reason.FAIL_FAST);
        stop.request(Stop.Reason.INTERRUPTED);

        assertThat(told).containsExactly("FAIL_FAST false");
        assertThat(stop.reason()).isEqualTo(Stop.Reason.INTERRUPTED);
    }

    @Test
    void who_waits_for_it_wakes() throws Exception {
        Stop stop = new Stop(Duration.ZERO);
        assertThat(stop.await(Duration.ofMillis(1))).isFalse();

        Thread.ofVirtual().start(() -> stop.request(Stop.Reason.INTERRUPTED));

        assertThat(stop.await(Duration.ofMinutes(5))).isTrue();
        stop.awaitOr(new CompletableFuture<>());
    }
}
