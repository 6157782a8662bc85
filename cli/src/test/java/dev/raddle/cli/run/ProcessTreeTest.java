package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessTreeTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    /** A shell that prints the number of a child and then "ready". */
    private Process start(String script) throws IOException {
        Process process =
                new ProcessBuilder("sh", "-c", script).redirectErrorStream(true).start();
        started.add(process);
        return process;
    }

    private static ProcessHandle child(BufferedReader output) throws IOException {
        ProcessHandle child =
                ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
        assertThat(output.readLine()).isEqualTo("ready");
        return child;
    }

    private static boolean lives(ProcessHandle process) {
        return process.isAlive() && process.info().commandLine().isPresent();
    }

    @Test
    void the_end_reaches_children_and_their_children() throws Exception {
        Process process = start("sh -c 'sleep 600 & echo $!; echo ready; wait' & wait; echo never");
        BufferedReader output = process.inputReader();
        ProcessHandle grandchild = child(output);

        new ProcessTree(process.toHandle()).terminate(LONG);

        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(lives(grandchild)).isFalse();
        assertThat(output.readLine()).isNull();
    }

    @Test
    void a_shell_does_not_go_on_with_its_next_command() throws Exception {
        Process process = start("echo $$; echo ready; sleep 600; echo never");
        BufferedReader output = process.inputReader();
        child(output);

        new ProcessTree(process.toHandle()).terminate(LONG);

        assertThat(output.readLine()).isNull();
    }

    @Test
    void a_process_has_time_to_end_in_its_own_way() throws Exception {
        Process process =
                start("trap 'sleep 0.2; echo bye; exit 5' TERM; echo $$; echo ready; while :; do sleep 0.01; done");
        BufferedReader output = process.inputReader();
        child(output);

        new ProcessTree(process.toHandle()).terminate(LONG);

        assertThat(process.waitFor()).isEqualTo(5);
        assertThat(output.lines()).contains("bye");
    }

    @Test
    void who_ignores_the_end_is_killed_after_the_grace_also_an_orphan() throws Exception {
        Process process = start("(trap '' TERM; sh -c 'echo $$; echo ready; while :; do sleep 1; done') & wait");
        ProcessHandle stubborn = child(process.inputReader());

        new ProcessTree(process.toHandle()).terminate(Duration.ofMillis(50));

        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(lives(stubborn)).isFalse();
    }

    @Test
    void kill_takes_the_rest_of_the_grace() throws Exception {
        Process process = start("trap '' TERM; echo $$; echo ready; while :; do sleep 1; done");
        child(process.inputReader());
        ProcessTree tree = new ProcessTree(process.toHandle());
        Thread ending = Thread.ofVirtual().start(() -> tree.terminate(LONG));

        tree.kill();
        ending.join();

        assertThat(process.waitFor()).isEqualTo(137);
    }

    @Test
    void ending_twice_is_ending_once_and_both_wait() throws Exception {
        // The child says ready itself: one that is born after the end was announced hears nothing of it.
        Process process = start("trap 'echo term' TERM; echo $$; sh -c 'echo ready; exec sleep 600' & wait; wait");
        BufferedReader output = process.inputReader();
        child(output);
        ProcessTree tree = new ProcessTree(process.toHandle());

        Thread other = Thread.ofVirtual().start(() -> tree.terminate(LONG));
        tree.terminate(LONG);
        other.join();

        assertThat(process.isAlive()).isFalse();
        assertThat(output.lines().filter(line -> line.equals("term"))).hasSize(1);
    }

    @Test
    void a_process_that_has_ended_needs_no_ending() throws Exception {
        Process process = start("exit 0");
        process.waitFor();

        new ProcessTree(process.toHandle()).terminate(LONG);

        assertThat(process.exitValue()).isZero();
    }
}
