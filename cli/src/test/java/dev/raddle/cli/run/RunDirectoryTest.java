package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.value.InvalidFileException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs in directories into which another user has put files or links. */
@Timeout(60)
class RunDirectoryTest {
    private static final String FILE =
            "tasks: [{ id: a, run: 'echo hello; exit 1' }, { id: b, run: 'true', needs: [{ after: a }] }]";

    @TempDir
    private Path directory;

    private Path victim = Path.of("");

    @BeforeEach
    void write() throws IOException {
        victim = Files.writeString(directory.resolve("victim"), "untouched");
    }

    @Test
    void what_a_run_writes_is_in_directories_that_only_its_user_may_read() throws Exception {
        Path fresh = RunDirectory.createFresh("run", Instant.EPOCH, directory).path();
        Path named = RunDirectory.create(directory.resolve("new/named")).path();

        assertThat(List.of(fresh.getParent(), fresh, fresh.resolve("output"), named, named.resolve("values")))
                .allSatisfy(path -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                        .isEqualTo("rwx------"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"output", "output/a.log", "notes.txt", ".hidden"})
    void a_directory_that_is_not_empty_is_refused(String name) throws Exception {
        Path out = directory.resolve("run");
        Path file = out.resolve(name);
        Files.createDirectories(file.getParent());
        Files.createSymbolicLink(file, victim);

        assertThatThrownBy(() -> new Session(directory).run(FILE)).isInstanceOf(DirectoryNotEmptyException.class);

        assertThat(victim).hasContent("untouched");
        assertThat(out.resolve("run.json")).doesNotExist();
    }

    @Test
    void an_empty_directory_is_accepted() throws Exception {
        Files.createDirectory(directory.resolve("run"));

        assertThat(new Session(directory).run("tasks: [{ id: a, run: 'true' }]"))
                .isZero();
    }

    /** The files of a run in the order in which they are created, before anything runs. */
    private static final List<String> FIRST = List.of(
            "output/", "values/", "journal.jsonl.lock", "journal.jsonl", "plan.yaml", "inputs/", "run.json.new");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7})
    void a_run_that_was_killed_before_it_began_can_begin_again_in_its_directory(int files) throws Exception {
        Session session = new Session(directory);
        Files.createDirectory(session.out());
        for (String name : FIRST.subList(0, files)) {
            Path file = session.out().resolve(name);
            if (name.endsWith("/")) {
                Files.createDirectory(file);
            } else {
                Files.writeString(file, name.equals("journal.jsonl") ? "{\"event\":\"opened\",\"key\":\"1\"}\n{" : "");
            }
        }

        assertThat(session.run("tasks: [{ id: a, run: 'exit 1' }]")).isEqualTo(ExitCode.FAILED);

        assertThat(new Session(directory).resume()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void a_directory_in_which_tasks_have_run_is_not_begun_again_without_its_run_json() throws Exception {
        Session session = new Session(directory);
        session.run(FILE);
        Files.delete(session.out().resolve("run.json"));

        assertThatThrownBy(() -> new Session(directory).run(FILE)).isInstanceOf(FileAlreadyExistsException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"output/a.log", "values/a.out", "output/b.log"})
    void a_link_at_the_path_of_an_output_is_a_failure_of_the_task(String name) throws Exception {
        Session session = new Session(directory);
        session.run("tasks: [{ id: a, run: 'echo hello; exit 1' }, "
                + "{ id: b, run: \"echo ${a.stdout}; exit 1\", needs: [{ after: a }] }]");
        Path file = session.out().resolve(name);
        Files.delete(file);
        Files.createSymbolicLink(file, victim);
        Session second = new Session(directory);

        second.resume();

        assertThat(victim).hasContent("untouched");
        assertThat(List.of(
                        String.valueOf(second.recorder().result("a").error()),
                        String.valueOf(second.recorder().result("b").error())))
                .anyMatch(error -> error.contains("is a symbolic link, which is not followed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"output", "values"})
    void a_link_at_the_path_of_a_directory_is_an_error(String name) throws Exception {
        Session session = new Session(directory);
        session.run(FILE);
        Path moved = Files.move(session.out().resolve(name), directory.resolve("elsewhere"));
        Files.createSymbolicLink(session.out().resolve(name), moved);

        assertThatThrownBy(() -> new Session(directory).resume())
                .hasMessageContaining("must be a directory and not a symbolic link");
    }

    @ParameterizedTest
    @ValueSource(strings = {"output", "values"})
    void a_link_that_replaces_a_directory_during_a_run_is_a_failure_of_the_next_task(String name) throws Exception {
        Session session = new Session(directory);
        Path place = session.out().resolve(name);
        Path elsewhere = directory.resolve("elsewhere");
        String swap = "mv '" + place + "' '" + elsewhere + "' && ln -s '" + elsewhere + "' '" + place + "'";

        session.run("""
                tasks:
                  - { id: a, run: "%s" }
                  - { id: b, run: "echo hello", needs: [a] }
                  - { id: c, run: "echo ${b.stdout}", needs: [b] }
                """.formatted(swap));

        assertThat(session.recorder().result("a").state()).isEqualTo(TaskState.SUCCEEDED);
        assertThat(session.recorder().result("b").error())
                .contains(place + " is a symbolic link, which is not followed");
        assertThat(elsewhere.resolve("b.log")).doesNotExist();
        assertThat(elsewhere.resolve("b.out")).doesNotExist();
    }

    @Test
    void a_link_at_the_path_of_a_value_has_no_fallback() throws Exception {
        Session session = new Session(directory);
        Path value = session.out().resolve("values/b.out");

        session.run("""
                tasks:
                  - { id: a, run: "ln -s '%s' '%s'" }
                  - { id: b, run: "exit 1", needs: [a], fallback: { value: none } }
                  - { id: c, run: "echo ${b.stdout}", needs: [b] }
                """.formatted(victim, value));

        assertThat(victim).hasContent("untouched");
        assertThat(session.recorder().result("b").error()).contains("is a symbolic link, which is not followed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"journal.jsonl", "journal.jsonl.lock"})
    void a_link_at_the_path_of_a_file_of_the_run_is_not_followed(String name) throws Exception {
        Session session = new Session(directory);
        session.run(FILE);
        Path file = session.out().resolve(name);
        Files.deleteIfExists(file);
        Files.createSymbolicLink(file, victim);

        assertThatThrownBy(() -> new Session(directory).resume())
                .isInstanceOfAny(IOException.class, InvalidFileException.class);

        assertThat(victim).hasContent("untouched");
    }

    @Test
    void a_link_at_the_path_of_a_temporary_report_is_replaced() throws Exception {
        Session session = new Session(directory);
        session.run(FILE);
        Path draft = Files.createSymbolicLink(session.out().resolve("report.json.new"), victim);
        Files.delete(session.out().resolve("report.json"));

        new Session(directory).resume();

        assertThat(victim).hasContent("untouched");
        assertThat(draft).doesNotExist();
        assertThat(session.out().resolve("report.json")).isRegularFile();
    }
}
