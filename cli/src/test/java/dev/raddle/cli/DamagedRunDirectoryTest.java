package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.run.ExitCode;
import dev.raddle.cli.run.Journal;
import dev.raddle.cli.run.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code raddle run --resume} and {@code raddle explain} of run directories with damaged files. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class DamagedRunDirectoryTest {
    private static final String ADVICE = "raddle: 1 problem, nothing was run; restore the file, or begin a new run\n";

    @TempDir
    private Path run;

    @BeforeEach
    void keep() throws IOException, InvalidFileException {
        RunDirectory directory = RunDirectory.create(run);
        RunDirectory.Origin origin = new RunDirectory.Origin(
                "a.yaml", run, "tasks: [{ id: a, run: 'true' }]\n", name -> new byte[0], Map.of());
        directory.keep(origin, new RunFile(origin).draft(), Instant.EPOCH);
        Journal.open(directory.journal()).close();
    }

    private void isInvalid(String problem) {
        Ended resumed = Ended.raddle("run", "--resume", run.toString());
        Ended explained = Ended.raddle("explain", run.toString(), "a");

        assertThat(resumed.err()).isEqualTo(run + "/" + problem + "\n" + ADVICE);
        assertThat(resumed.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(explained.err()).startsWith(run + "/" + problem + "\n");
        assertThat(explained.exitCode()).isEqualTo(ExitCode.INVALID);
    }

    @ParameterizedTest
    @ValueSource(strings = {"plan.yaml", "run.json"})
    void a_file_that_is_not_utf_8_is_reported_with_its_line(String name) throws Exception {
        Files.write(run.resolve(name), new byte[] {'#', '\n', (byte) 0xE9}, StandardOpenOption.APPEND);

        isInvalid(name + ":3:1: the file must be UTF-8, this line is not");
    }

    @ParameterizedTest
    @CsvSource({
        "run.json, the file must be a JSON object",
        "journal.jsonl, 'every line must be a JSON object, this one is damaged'"
    })
    void a_file_that_is_not_json_is_reported(String name, String problem) throws Exception {
        Files.writeString(run.resolve(name), "[]\n");

        isInvalid(name + ":1:1: " + problem);
    }

    @Test
    void a_plan_that_is_missing_is_reported() throws Exception {
        Files.delete(run.resolve("plan.yaml"));

        isInvalid("plan.yaml:1:1: the file is missing");
    }

    @Test
    void with_a_damaged_journal_a_changed_file_is_not_kept_either() throws Exception {
        String kept = Files.readString(run.resolve("run.json"));
        Files.writeString(run.resolve("journal.jsonl"), "[]\n");
        Path changed = Files.writeString(run.resolve("b.yaml"), "tasks: [{ id: b, run: 'true' }]\n");

        Ended resumed = Ended.raddle("run", "--resume", run.toString(), changed.toString());

        assertThat(resumed.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(resumed.err()).startsWith(run + "/journal.jsonl:1:1: every line must be a JSON object");
        assertThat(run.resolve("run.json")).hasContent(kept);
    }

    @ParameterizedTest
    @ValueSource(strings = {"run.json", "journal.jsonl"})
    void a_directory_without_one_of_the_files_contains_no_run(String name) throws Exception {
        Files.delete(run.resolve(name));

        Ended resumed = Ended.raddle("run", "--resume", run.toString());

        assertThat(resumed.err())
                .contains("--resume must name a run directory, such as raddle-runs/NAME-TIME; \"" + run + "\" has no "
                        + name + "; restore it, or begin a new run\n");
        assertThat(resumed.exitCode()).isEqualTo(ExitCode.INVALID);
        assertThat(Ended.raddle("explain", run.toString(), "a").err()).contains("has no " + name);
    }

    @ParameterizedTest
    @CsvSource({"journal.jsonl, is a symbolic link", "values, must be a directory and not a symbolic link"})
    void a_symbolic_link_in_place_of_a_file_is_named_and_nothing_runs(String name, String problem) throws Exception {
        Files.move(run.resolve(name), run.resolve("moved"));
        Files.createSymbolicLink(run.resolve(name), run.resolve("moved"));

        Ended resumed = Ended.raddle("run", "--resume", run.toString());

        assertThat(resumed.err()).startsWith("raddle: " + run.resolve(name) + " " + problem);
        assertThat(resumed.exitCode()).isEqualTo(ExitCode.INVALID);
    }
}
