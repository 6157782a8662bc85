package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeFileTest {
    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("report.json");
    }

    @Test
    void a_failure_in_the_middle_leaves_the_old_file_and_nothing_else() throws Exception {
        WholeFile.write(file(), writer -> writer.write("old"));
        IOException full = new IOException("No space left on device");

        assertThatThrownBy(() -> WholeFile.write(file(), writer -> {
                    writer.write("half of the new");
                    writer.flush();
                    throw full;
                }))
                .isSameAs(full);

        assertThat(file()).hasContent("old");
        assertThat(directory).isDirectoryContaining("glob:**report.json").isNotEmptyDirectory();
        assertThat(directory.resolve("report.json.new")).doesNotExist();
    }

    @Test
    void a_leftover_file_or_link_is_replaced_and_not_followed() throws Exception {
        Path victim = Files.writeString(directory.resolve("victim"), "mine");
        Files.createSymbolicLink(directory.resolve("report.json.new"), victim);

        WholeFile.write(file(), writer -> writer.write("new"));

        assertThat(file()).hasContent("new").isRegularFile();
        assertThat(Files.isSymbolicLink(file())).isFalse();
        assertThat(victim).hasContent("mine");
    }

    @Test
    void what_the_user_named_and_is_no_file_stays_and_is_written_into() throws Exception {
        Path target = Files.writeString(directory.resolve("target"), "old and longer");
        Files.createSymbolicLink(file(), target);

        WholeFile.writeNamed(file(), writer -> writer.write("new"));

        assertThat(file()).isSymbolicLink();
        assertThat(target).hasContent("new");
        Files.delete(target);
        WholeFile.writeNamed(file(), writer -> writer.write("again"));
        assertThat(file()).isSymbolicLink(); // also if its target is yet to be created
        assertThat(target).hasContent("again");
    }
}
