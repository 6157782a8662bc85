package dev.raddle.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TailTest {
    @TempDir
    private Path directory;

    private String file(String text) throws Exception {
        return Files.writeString(directory.resolve("a.log"), text).toString();
    }

    @Test
    void the_tail_is_the_last_lines_that_are_not_blank() throws Exception {
        assertThat(Tail.of(file("one\ntwo\n\nthree\r\nfour  \n\n"), 2)).containsExactly("three", "four");
        assertThat(Tail.of(file("one"), 5)).containsExactly("one");
        assertThat(Tail.of(file(""), 5)).isEmpty();
    }

    @Test
    void the_beginning_of_a_large_file_is_not_read() throws Exception {
        assertThat(Tail.of(file("x\n".repeat(1_000_000) + "last\n"), 2)).containsExactly("x", "last");
    }

    @Test
    void output_of_a_command_cannot_control_the_terminal() throws Exception {
        assertThat(Tail.of(file("\033[31mred\033[0m\033]0;title\007 \033[2J\u0008x\n"), 1))
                .singleElement()
                .asString()
                .contains("red")
                .doesNotContain("\033", "\007", "\u0008");
    }

    @Test
    void bytes_that_are_not_text_are_replaced() throws Exception {
        Files.write(directory.resolve("b.log"), new byte[] {(byte) 0xFF, (byte) 0xC3, 'a', '\n'});

        assertThat(Tail.of(directory.resolve("b.log").toString(), 1)).containsExactly("\uFFFD\uFFFDa");
    }

    @Test
    void a_missing_file_has_no_last_lines() {
        assertThat(Tail.of(null, 3)).isEmpty();
        assertThat(Tail.of(directory.resolve("none").toString(), 3)).isEmpty();
    }

    @Test
    void a_long_line_is_cut() throws Exception {
        Path file = Files.writeString(directory.resolve("a.log"), "x\n" + "\001\uD83D\uDE00".repeat(40_000) + "\n");

        List<String> lines = Tail.of(file.toString(), 5);

        assertThat(lines).singleElement().asString().endsWith("...");
        assertThat(lines.getFirst().codePointCount(0, lines.getFirst().length()))
                .isEqualTo(200);
    }
}
