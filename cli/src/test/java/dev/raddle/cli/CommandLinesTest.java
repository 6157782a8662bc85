package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.run.LineInput;
import dev.raddle.cli.run.LineTasks;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CommandLinesTest {
    private static LineTasks.LineTask made(CommandTemplate command, String groupBy, LineInput.Line line) {
        return new CommandLines(command, GroupBy.parse(groupBy), Path.of("/here"), null, Retry.NONE).of(line, 3);
    }

    private static List<String> words(CommandTemplate command, String line) {
        LineTasks.LineTask made = made(command, null, new LineInput.Line(7, line, true));
        assertThat(made.error()).isEmpty();
        return made.task().command().words();
    }

    @Test
    void a_command_without_a_placeholder_gets_the_line_as_its_last_argument() {
        assertThat(words(CommandLines.words(List.of("curl", "-fsS")), "a b")).containsExactly("curl", "-fsS", "a b");
        assertThat(words(CommandLines.script("gzip -k"), "a b"))
                .containsExactly("sh", "-c", "gzip -k ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}");
    }

    @Test
    void placeholders_may_be_anywhere_in_a_word() {
        assertThat(words(CommandLines.words(List.of("cp", "{}", "x{}.${n}", "$HOME")), "$(a) b"))
                .containsExactly("cp", "$(a) b", "x$(a) b.3", "$HOME");
    }

    @Test
    void a_script_is_quoted_for_its_shell() {
        assertThat(words(CommandLines.script("gzip -c {} > \"{}.gz\""), "a; b"))
                .containsExactly(
                        "sh",
                        "-c",
                        "gzip -c ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"} > \"${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}.gz\"");
    }

    @Test
    void an_unknown_placeholder_is_refused() {
        assertThatThrownBy(() -> CommandLines.words(List.of("echo", "${x}")))
                .hasMessageStartingWith("the command has the unknown placeholder ${x} (known: ${line}, ${n}, ${host};");
        assertThatThrownBy(() -> CommandLines.script("echo `{}`")).hasMessageContaining("inside `…`");
    }

    @Test
    void an_unusable_line_is_reported_with_its_location() {
        CommandTemplate echo = CommandLines.words(List.of("echo"));

        assertThat(made(echo, "${host}", new LineInput.Line(7, "plain", true)).error())
                .isEqualTo("standard input:7:1: ${host} needs a URL with a host, such as http://example.org/a, was"
                        + " \"plain\"");
        assertThat(made(echo, null, new LineInput.Line(7, "a\uFFFD", false)).error())
                .isEqualTo("standard input:7:1: a line must be UTF-8, was \"a\uFFFD\"");
        assertThat(made(echo, "/^(a)?/", new LineInput.Line(7, "b", true)).error())
                .isEqualTo("standard input:7:1: the group must not be empty, the line was \"b\"");
        assertThat(made(echo, null, new LineInput.Line(7, "a\0b", true)).error())
                .contains("must not contain the character NUL");
    }
}
