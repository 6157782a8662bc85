package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.GroupRule;
import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.value.Backoff;
import dev.raddle.testing.VirtualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Drains real processes. Time is virtual. */
@Timeout(120)
class GroupRunnerTest {
    private static final Limits LIMITS =
            new Limits(new GroupRule(2, 2, null, null), Map.of(), 256, Limits.UNLIMITED, null);
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final String GROUP = "g";
    private static final String FOR_LONG = "sleep 600";
    private static final String UNTIL_FINISH = "until [ -e finish ]; do sleep 0.01; done";

    @TempDir
    private Path directory;

    private final VirtualTime time = new VirtualTime();
    private final Recorder recorder = new Recorder();
    private final Stop stop = new Stop(Duration.ofHours(1));
    private final EventLoop events = new EventLoop(List.of(recorder), (listener, e) -> {}).start();

    @AfterEach
    void close() {
        events.close();
    }

    private Threads threads() {
        Threads threads = new Threads(GRACE, time);
        stop.onDrain(threads::drain, threads::endGrace);
        return threads;
    }

    private GroupRunner runner(Threads threads) {
        return new GroupRunner(
                LIMITS,
                threads,
                events,
                stop,
                Session.CLOCK,
                new RunSession.Settings(GRACE, null),
                ProcessStarter.of(ProcessStarter.newKey()),
                false);
    }

    private void submit(GroupRunner runner, String id, String script) {
        submit(runner, id, script, Retry.NONE);
    }

    private void submit(GroupRunner runner, String id, String script, Retry retry) {
        submit(runner, id, script, retry, null);
    }

    private void submit(GroupRunner runner, String id, String script, Retry retry, @Nullable Duration timeout) {
        Command command = new Command(List.of("sh", "-c", script), Map.of(), script);
        Path output = directory.resolve(id + ".log");
        runner.submit(
                new PlannedTask(id, GROUP, command, Map.of(), directory, timeout, retry, 0, 1),
                new OutputFiles(output, null, true, output.toString()));
    }

    private void awaitStart(String... ids) throws InterruptedException {
        for (String ignored : ids) {
            recorder.await(
                    RunEvent.AttemptStarted.class, started -> List.of(ids).contains(started.id()));
        }
    }

    /** Begins a drain and returns when the grace period has begun. */
    private void drain() throws InterruptedException {
        int alarms = time.alarms();
        stop.drain();
        time.awaitAlarms(alarms + 1);
    }

    private TaskState state(String id) {
        events.flush();
        return recorder.result(id).state();
    }

    private static Account account(GroupRunner runner, Threads threads) {
        Account account = runner.account();
        long placed = threads.account().join().accepted();
        assertThat(account.accepted()).isEqualTo(placed + account.handedBack().size());
        return account;
    }

    @Test
    void running_tasks_may_end_within_the_grace_and_waiting_ones_are_handed_back() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "one", UNTIL_FINISH);
            submit(runner, "two", UNTIL_FINISH);
            submit(runner, "waits-1", "true");
            submit(runner, "waits-2", "true");
            submit(runner, "too-many", "true");
            awaitStart("one", "two");
            drain();
            submit(runner, "too-late", "true");

            Files.writeString(directory.resolve("finish"), "");
            runner.awaitAll();

            Account account = account(runner, threads);
            assertThat(account.handedBack()).containsExactlyInAnyOrder("waits-1", "waits-2");
            assertThat(account).isEqualTo(new Account(0, 2, 0, account.handedBack(), 0));
            assertThat(account.accepted()).isEqualTo(4);
        }
        assertThat(state("one")).isEqualTo(TaskState.SUCCEEDED);
        assertThat(state("waits-1")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.result("waits-1").error()).isEqualTo("not started, the run was stopped");
        assertThat(state("too-many")).isEqualTo(TaskState.REJECTED);
        assertThat(state("too-late")).isEqualTo(TaskState.REJECTED);
        assertThat(recorder.all(RunEvent.TaskEnded.class)).hasSize(6);
    }

    @Test
    void a_task_that_fails_within_the_grace_is_failed_unless_it_had_attempts_left() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "once", UNTIL_FINISH + "; exit 7");
            submit(runner, "often", UNTIL_FINISH + "; exit 7", new Retry(9, Backoff.DEFAULT));
            awaitStart("once", "often");
            drain();

            Files.writeString(directory.resolve("finish"), "");
            runner.awaitAll();

            assertThat(account(runner, threads)).isEqualTo(new Account(0, 2, 0, List.of(), 0));
        }
        assertThat(state("once")).isEqualTo(TaskState.FAILED);
        assertThat(recorder.result("once").error()).isEqualTo("exit code 7");
        assertThat(state("often")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.result("often").attempts()).isEqualTo(1);
    }

    @Test
    void a_drain_ends_the_pause_between_attempts() throws Exception {
        assertEndsAtOnceWhilePausing(stop::drain);
    }

    @Test
    void a_stop_ends_the_pause_between_attempts() throws Exception {
        assertEndsAtOnceWhilePausing(() -> stop.request(Stop.Reason.INTERRUPTED));
    }

    private void assertEndsAtOnceWhilePausing(Runnable stopping) throws Exception {
        Backoff anHour = new Backoff(Duration.ofHours(1), Duration.ofHours(1));
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "often", "exit 7", new Retry(9, anHour));
            recorder.await(RunEvent.AttemptFailed.class, failed -> true);

            stopping.run();
            runner.awaitAll();
        }
        assertThat(state("often")).isEqualTo(TaskState.CANCELLED);
        TaskResult result = recorder.result("often");
        assertThat(result.attempts()).isEqualTo(1);
        assertThat(result.exitCode()).isEqualTo(7);
        assertThat(result.error()).isEqualTo("stopped with the run");
        assertThat(recorder.all(RunEvent.AttemptStarted.class)).hasSize(1);
        assertThat(recorder.all(RunEvent.TaskEnded.class)).hasSize(1);
    }

    @Test
    void a_task_that_exceeds_the_grace_is_terminated() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "one", FOR_LONG);
            submit(runner, "two", FOR_LONG);
            submit(runner, "waits", "true");
            awaitStart("one", "two");
            drain();

            time.advance(GRACE);
            runner.awaitAll();

            assertThat(account(runner, threads)).isEqualTo(new Account(0, 0, 2, List.of("waits"), 0));
        }
        assertThat(state("one")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.result("one").attempts()).isEqualTo(1);
        assertThat(recorder.result("one").error()).isEqualTo("stopped with the run");
        assertThat(recorder.result("two").exitCode()).isEqualTo(143);
        assertThat(state("waits")).isEqualTo(TaskState.CANCELLED);
    }

    @Test
    void a_task_is_terminated_at_the_end_of_the_grace_even_before_its_timeout() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "one", FOR_LONG, new Retry(9, Backoff.DEFAULT), Duration.ofHours(1));
            awaitStart("one");
            drain();

            time.advance(GRACE);
            runner.awaitAll();

            assertThat(account(runner, threads)).isEqualTo(new Account(0, 0, 1, List.of(), 0));
        }
        assertThat(state("one")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.result("one").exitCode()).isEqualTo(143);
        assertThat(recorder.result("one").attempts()).isEqualTo(1);
    }

    @Test
    void a_second_signal_cuts_the_grace_short() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            submit(runner, "stubborn", "trap '' TERM; while :; do sleep 1; done");
            awaitStart("stubborn");
            drain();

            stop.kill();
            runner.awaitAll();

            assertThat(account(runner, threads)).isEqualTo(new Account(0, 0, 1, List.of(), 0));
        }
        assertThat(state("stubborn")).isEqualTo(TaskState.CANCELLED);
        assertThat(stop.reason()).isEqualTo(Stop.Reason.TERMINATED);
    }

    @Test
    void a_task_that_does_not_end_is_abandoned_and_reported() throws Exception {
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            for (String id : List.of("one", "two")) {
                Path fifo = directory.resolve(id + ".fifo");
                new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor();
                submit(runner, id, "trap '' TERM; echo ready > " + id + ".fifo; while :; do sleep 1; done");
                assertThat(Files.readString(fifo)).isEqualTo("ready\n");
            }
            submit(runner, "waits", "true");
            drain();
            int alarms = time.alarms();
            time.advance(GRACE);
            time.awaitAlarms(alarms);

            time.advance(GRACE.plusSeconds(5));
            runner.awaitAll();

            assertThat(account(runner, threads)).isEqualTo(new Account(0, 0, 0, List.of("waits"), 2));
        }
        assertThat(state("one")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.result("one").attempts()).isEqualTo(1);
        assertThat(state("waits")).isEqualTo(TaskState.CANCELLED);
        assertThat(recorder.all(RunEvent.TaskEnded.class)).hasSize(3);
    }

    @Test
    void a_part_of_a_flow_that_is_about_to_end_is_interrupted_without_a_warning() throws Exception {
        Logger logger = Logger.getLogger("dev.raddle");
        List<String> logged = new ArrayList<>();
        Thread test = Thread.currentThread();
        logger.setFilter(entry -> Thread.currentThread() != test || !logged.add(entry.getMessage()));
        CountDownLatch begun = new CountDownLatch(1);
        try (Threads threads = threads();
                GroupRunner runner = runner(threads)) {
            Command command = new Command(List.of("true"), Map.of(), "true");
            runner.submit(new PlannedTask("a", GROUP, command, Map.of(), directory, null, Retry.NONE, 0, 1), () -> {
                begun.countDown();
                LockSupport.park(); // until it is interrupted
            });
            begun.await();
            runner.awaitAll();
        } finally {
            logger.setFilter(null);
        }

        assertThat(logged).isEmpty();
    }
}
