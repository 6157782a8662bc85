package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ProcessTreeTest {
    /** The number of repetitions of each race; {@code -Draddle.process.rounds=2000} for a long search. */
    private static final int ROUNDS = Integer.getInteger("raddle.process.rounds", 3);

    @TempDir
    private Path directory;

    private static final Duration LONG = Duration.ofMinutes(5);

    /** A grace so long that a tree which ends during a test was ended by SIGTERM. */
    private static final Duration ONLY_BY_TERM = Duration.ofHours(10);

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    /** Starts a shell that prints the process id of a child and then "ready". */
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
    void terminating_reaches_children_and_their_children() throws Exception {
        Process process = start("sh -c 'sleep 600 & echo $!; echo ready; wait' & wait; echo never");
        BufferedReader output = process.inputReader();
        ProcessHandle grandchild = child(output);

        ProcessTree.of(process.toHandle()).terminate(LONG);

        assertThat(process.waitFor()).isEqualTo(143);
        assertThat(lives(grandchild)).isFalse();
        assertThat(output.readLine()).isNull();
    }

    @Test
    void a_shell_does_not_continue_with_its_next_command() throws Exception {
        Process process = start("echo $$; echo ready; sleep 600; echo never");
        BufferedReader output = process.inputReader();
        child(output);

        ProcessTree.of(process.toHandle()).terminate(LONG);

        assertThat(output.readLine()).isNull();
    }

    @Test
    void a_process_has_time_to_end_by_itself() throws Exception {
        Process process =
                start("trap 'sleep 0.2; echo bye; exit 5' TERM; echo $$; echo ready; while :; do sleep 0.01; done");
        BufferedReader output = process.inputReader();
        child(output);

        ProcessTree.of(process.toHandle()).terminate(LONG);

        assertThat(process.waitFor()).isEqualTo(5);
        assertThat(output.lines()).contains("bye");
    }

    @Test
    void a_process_that_ignores_sigterm_is_killed_after_the_grace_also_an_orphan() throws Exception {
        Process process = start("(trap '' TERM; sh -c 'echo $$; echo ready; while :; do sleep 1; done') & wait");
        ProcessHandle stubborn = child(process.inputReader());

        ProcessTree.of(process.toHandle()).terminate(Duration.ofMillis(50));

        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(lives(stubborn)).isFalse();
    }

    @Test
    void kill_ends_the_grace_period() throws Exception {
        Process process = start("trap '' TERM; echo $$; echo ready; while :; do sleep 1; done");
        child(process.inputReader());
        ProcessTree tree = ProcessTree.of(process.toHandle());
        Thread ending = Thread.ofVirtual().start(() -> tree.terminate(LONG));

        tree.kill();
        ending.join();

        assertThat(process.waitFor()).isEqualTo(137);
    }

    @Test
    void two_calls_end_a_tree_once_and_both_wait() throws Exception {
        // The child prints ready itself: one that is started after the end was announced does not receive the signal.
        Process process = start("trap 'echo term' TERM; echo $$; sh -c 'echo ready; exec sleep 600' & wait; wait");
        BufferedReader output = process.inputReader();
        child(output);
        ProcessTree tree = ProcessTree.of(process.toHandle());

        Thread other = Thread.ofVirtual().start(() -> tree.terminate(LONG));
        tree.terminate(LONG);
        other.join();

        assertThat(process.isAlive()).isFalse();
        assertThat(output.lines().filter(line -> line.equals("term"))).hasSize(1);
    }

    /*
     * Ways in which a command leaves processes behind. Each prints "ready" when its last process can be running or is
     * about to be forked, which is the start of the hardest race.
     */
    static Stream<Arguments> forms() {
        List<String> scripts = List.of(
                "echo ready; sleep 600; echo never",
                "echo ready; sleep 600 | sleep 600 | cat",
                "nohup sleep 600 >&2 2>/dev/null & echo ready; wait",
                "setsid sleep 600 & echo ready; wait",
                "setsid sh -c '(sleep 600 &) ; echo ready; sleep 600'",
                "(setsid sh -c 'sleep 600 & exit' &) ; echo ready; sleep 600",
                "(sleep 600 &) ; echo ready",
                "setsid sh -c 'echo ready; (setsid sh -c \"(setsid sleep 600 &)\" &)' & sleep 600",
                "(trap '' TERM HUP INT; echo ready; (setsid sleep 600 &); sleep 600)",
                "bash -mc 'sleep 600 | cat & echo ready; wait'",
                "env -u RADDLE_TREE sh -c 'echo ready; (sleep 600 &); sleep 600'");
        return Stream.of(ProcessStarter.of(ProcessStarter.newKey()), ProcessStarter.plain(ProcessStarter.newKey()))
                .flatMap(starter -> scripts.stream()
                        // Without a session, a process that has cleared its environment cannot be found.
                        .filter(script -> !(starter.toString().equals("plain") && script.startsWith("env")))
                        .map(script -> Arguments.of(starter, script)));
    }

    private static Set<Long> carriers(ChildProcess child) {
        return ProcessTable.ALL.read().stream()
                .filter(entry -> entry.has(child.token()) || entry.session() == child.pid())
                .map(ProcessTable.Entry::pid)
                .collect(Collectors.toSet());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void no_process_is_left_behind_regardless_of_concurrent_forks(ProcessStarter starter, String script)
            throws Exception {
        Path pipe = directory.resolve("pipe");
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
        for (int i = 0; i < ROUNDS; i++) {
            ChildProcess child;
            try (FileChannel both = FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                child = starter.start(
                        List.of("sh", "-c", script), Map.of(), directory, new Posix.Target(pipe, true), null);
                both.read(ByteBuffer.allocate(1)); // the first byte of its output
            }
            ProcessTree.of(child).terminate(script.contains("trap") ? Duration.ofMillis(20) : ONLY_BY_TERM);

            assertThat(carriers(child)).as("round " + i).isEmpty();
            child.waitFor();
            child.release();
        }
    }

    private ChildProcess startChild(String script) throws IOException {
        return ProcessStarter.of(ProcessStarter.newKey())
                .start(
                        List.of("sh", "-c", script),
                        Map.of(),
                        directory,
                        new Posix.Target(directory.resolve("log"), true),
                        null);
    }

    /** A named pipe that this process keeps open, so that neither end waits for the other to open it. */
    private FileChannel pipe(String name) throws Exception {
        Path pipe = directory.resolve(name);
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
        return FileChannel.open(pipe, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private static void write(FileChannel pipe) {
        try {
            pipe.write(ByteBuffer.wrap("\n".getBytes(StandardCharsets.US_ASCII)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void read(FileChannel pipe) {
        try {
            pipe.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void a_process_that_leaves_its_group_just_before_the_signal_is_signalled_in_its_new_group() throws Exception {
        try (FileChannel ready = pipe("ready");
                FileChannel go = pipe("go");
                FileChannel gone = pipe("gone")) {
            ChildProcess child = startChild(
                    "sh -c 'echo >ready; read x <go; exec setsid sh -c \"echo >gone; exec sleep 36000\"' & wait");
            read(ready);
            AtomicBoolean moved = new AtomicBoolean();

            ProcessTree.of(child, () -> {
                        Collection<ProcessTable.Entry> before = ProcessTable.ALL.read();
                        if (moved.compareAndSet(false, true)) {
                            write(go);
                            read(gone);
                        }
                        return before;
                    })
                    .terminate(ONLY_BY_TERM);

            assertThat(carriers(child)).isEmpty();
            assertThat(child.waitFor()).isEqualTo(143);
            child.release();
        }
    }

    @Test
    @Timeout(value = 2, unit = TimeUnit.MINUTES)
    void a_process_that_leaves_its_group_after_it_was_signalled_is_not_signalled_again() throws Exception {
        try (FileChannel ready = pipe("ready");
                FileChannel go = pipe("go");
                FileChannel gone = pipe("gone")) {
            // The program after exec does not handle SIGTERM: a second signal would end it before its cleanup. The
            // child says ready, because a signal between a fork and its exec would be lost in the copy of the shell.
            String tidy = "echo >gone; read x <go; echo tidied";
            ChildProcess child = startChild("sh -c 'trap \"read x <go; exec setsid sh -c \\\"" + tidy
                    + "\\\"\" TERM; sh -c \"echo >ready; exec sleep 36000\" & wait' & wait");
            read(ready);
            AtomicInteger reading = new AtomicInteger();

            // SIGTERM follows the first reading. The second reading shows the process in its group, the third in a new
            // one.
            ProcessTree.of(child, () -> {
                        int number = reading.incrementAndGet();
                        if (number == 3) {
                            write(go);
                            read(gone);
                        } else if (number == 4) {
                            write(go);
                        }
                        return ProcessTable.ALL.read();
                    })
                    .terminate(ONLY_BY_TERM);

            assertThat(directory.resolve("log")).hasContent("tidied");
            child.waitFor();
            child.release();
        }
    }

    @Test
    void a_process_started_in_a_trap_has_time_to_end() throws Exception {
        Path log = directory.resolve("log");
        ChildProcess child = ProcessStarter.of(ProcessStarter.newKey())
                .start(
                        List.of(
                                "sh",
                                "-c",
                                "trap 'sh -c \"sleep 0.3 && echo tidied\"; exit 5' TERM; echo ready > ready;"
                                        + " while :; do sleep 0.01; done"),
                        Map.of(),
                        directory,
                        new Posix.Target(log, true),
                        null);
        try (WatchService watch = directory.getFileSystem().newWatchService()) {
            directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(directory.resolve("ready"))) {
                watch.take().reset();
            }
        }

        ProcessTree.of(child).terminate(LONG);

        assertThat(child.waitFor()).isEqualTo(5);
        assertThat(log).content().contains("tidied");
        child.release();
    }

    @Test
    void children_and_their_children_are_ended_without_proc_and_native_functions() throws Exception {
        Process process = start("sh -c 'sleep 600 & echo $!; echo ready; wait' & wait; echo never");
        ProcessHandle grandchild = child(process.inputReader());
        ChildProcess child = new ChildProcess(
                process.pid(),
                "none.p1",
                false,
                false,
                process.onExit().thenApply(ended -> new ChildProcess.Exit(ended.exitValue(), null)),
                () -> {});

        ProcessTree.of(child, new ProcessTable(0, false)).terminate(LONG);

        assertThat(lives(grandchild)).isFalse();
    }

    @Test
    void terminating_an_ended_process_has_no_effect() throws Exception {
        Process process = start("exit 0");
        process.waitFor();

        ProcessTree.of(process.toHandle()).terminate(LONG);

        assertThat(process.exitValue()).isZero();
    }
}
