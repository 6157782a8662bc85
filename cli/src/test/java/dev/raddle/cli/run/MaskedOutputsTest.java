package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.raddle.cli.file.value.Secrets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Real processes that print secrets. */
@Timeout(60)
class MaskedOutputsTest {
    private static final Secrets SECRETS = new Secrets(Set.of("TOKEN"), List.of("hunter22"), StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    private Path log = Path.of("");

    private static Stream<ProcessStarter> starters() {
        return Stream.of(ProcessStarter.of("key"), ProcessStarter.withoutFunctions("key"), ProcessStarter.plain("key"))
                .map(starter -> starter.hiding(SECRETS));
    }

    private void run(ProcessStarter starter, String script, Capture capture) throws Exception {
        log = directory.resolve("a.log");
        try (MaskedOutputs outputs = starter.outputs()) {
            Posix.Target out = outputs.through(capture);
            Posix.Target err = outputs.through(new Posix.Target(log, true));
            ChildProcess child =
                    starter.start(List.of("sh", "-c", script), Map.of("TOKEN", "hunter22"), directory, out, err);
            outputs.opened();
            child.waitFor();
            child.release();
            outputs.await();
            assertThat(out.path()).doesNotExist();
        }
    }

    private Capture capture() {
        return new Capture(directory.resolve("a.out"));
    }

    @ParameterizedTest
    @MethodSource("starters")
    void a_secret_reaches_no_file_however_it_is_written(ProcessStarter starter) throws Exception {
        Capture capture = capture();
        Files.writeString(capture.file(), "what an earlier attempt has written");
        Files.writeString(directory.resolve("a.log"), "kept\n");

        run(starter, "printf 'a hun'; printf ter; printf '22 b hunter2'; echo \"<$TOKEN>\" >&2", capture);

        assertThat(capture.file()).hasContent("a *** b hunter2");
        assertThat(capture.text()).isEqualTo("a hunter22 b hunter2");
        assertThat(capture.size()).isEqualTo(20);
        assertThat(log).hasContent("kept\n<***>\n");
    }

    @ParameterizedTest
    @MethodSource("starters")
    void an_output_without_a_secret_is_only_in_its_file(ProcessStarter starter) throws Exception {
        Capture capture = capture();
        capture.setOriginal(new byte[1]);

        run(starter, "seq 100000", capture);

        assertThat(capture.isMasked()).isFalse();
        assertThat(Files.readString(capture.file()).lines())
                .hasSize(100_000)
                .last()
                .isEqualTo("100000");
    }

    @ParameterizedTest
    @MethodSource("starters")
    void a_descendant_that_keeps_the_output_open_delays_nothing_and_can_go_on(ProcessStarter starter) throws Exception {
        Capture capture = capture();
        Path go = directory.resolve("go");
        assertThat(new ProcessBuilder("mkfifo", go.toString()).start().waitFor())
                .isZero();

        run(starter, "(read line < go; echo $line $TOKEN) & echo first", capture);

        assertThat(capture.file()).hasContent("first\n");
        Files.writeString(go, "second\n");
        while (!Files.readString(capture.file()).equals("first\nsecond ***\n")) {
            Thread.onSpinWait();
        }
        assertThat(capture.text()).isEqualTo("first\nsecond ***\n");
    }

    @Test
    void a_process_that_prints_more_than_can_be_passed_on_is_not_kept_in_memory() throws Exception {
        Capture capture = capture();

        run(ProcessStarter.of("key").hiding(SECRETS), "echo $TOKEN; head -c 5000000 /dev/zero", capture);

        assertThat(Files.size(capture.file())).isEqualTo(5_000_004);
        assertThat(capture.size()).isBetween((long) PlanFlow.MAX_VALUE_BYTES + 1, 200_000L);
    }

    @Test
    void a_failure_to_write_is_reported_when_the_process_has_ended() {
        assumeTrue(Files.exists(Path.of("/dev/full")), "this system has no /dev/full");
        Capture full = new Capture(Path.of("/dev/full"));

        assertThatThrownBy(() -> run(ProcessStarter.of("key").hiding(SECRETS), "head -c 500000 /dev/zero", full))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("space");
    }

    @Test
    void a_pipe_can_be_opened_only_by_its_user() throws Exception {
        for (Posix posix : new Posix[] {Posix.get(), null}) {
            Path pipe = directory.resolve("pipe");
            MaskedOutputs.create(pipe, posix);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(pipe)))
                    .isEqualTo("rw-------");
            assertThatThrownBy(() -> MaskedOutputs.create(pipe, posix)).isInstanceOf(IOException.class);
            Files.delete(pipe);
        }
    }
}
