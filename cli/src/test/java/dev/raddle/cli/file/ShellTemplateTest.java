package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a real shell makes of scripts with hostile values. */
class ShellTemplateTest {
    private static final Location AT = new Location("data.txt", 1, 1);
    private static final List<String> HOSTILE = List.of(
            "a; touch pwned",
            "$(touch pwned)",
            "`touch pwned`",
            "' ; touch pwned ; '",
            "\" ; touch pwned ; \"",
            "'\"'\"'; touch pwned #",
            "\\'; touch pwned; \\'",
            "\\",
            "a\ntouch pwned\n",
            "&& touch pwned",
            "| touch pwned",
            "> pwned",
            "-rf /",
            "--help",
            "*",
            "~",
            "$HOME ${HOME} $((1+1))",
            "${RADDLE_VALUE_1}",
            "%s\\n%d",
            "  two  spaces  ",
            "tab\there",
            "größe 日本 😀",
            "!event",
            "#no comment",
            "a[$(touch pwned)]",
            "");

    @TempDir
    private Path directory;

    static Stream<String> hostile() {
        return HOSTILE.stream();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_line_of_data_never_becomes_code(String line) throws Exception {
        String script = """
                printf '<%s>' ${line} x${line}y "${line}" "x${line}y" '${line}' 'x${line}y' "$(printf '%s.' ${line})" \\
                    "it's" 'say "hi"' "$( (printf '%s.' "${line}") )" # don't ${line}
                printf '<%s>' ${line}""";

        String printed = run(ShellTemplate.parse(script, false), line);

        assertThat(printed)
                .isEqualTo("<" + line + "><x" + line + "y><" + line + "><x" + line + "y><" + line + "><x" + line + "y><"
                        + line + ".><it's><say \"hi\"><" + line + ".><" + line + ">");
        assertThat(directory).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void even_where_the_quotes_are_misjudged_a_line_of_data_is_no_code(String line) throws Exception {
        // The closing parenthesis of the pattern is taken for the end of $( … ).
        String script = "x=$(case a in a) printf '<%s>' ${line} ;; esac); printf '%s' \"$x\"";

        run(ShellTemplate.parse(script, false), line);

        assertThat(directory).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void the_command_that_is_shown_does_the_same_when_it_is_pasted(String line) throws Exception {
        ShellTemplate template = ShellTemplate.parse("printf '<%s>' ${line} \"a${line}\" 'b${line}' x=${line}", false);

        String shown = template.fill(Row.ofLine(AT, 1, line)).shown();

        assertThat(run(new Command(List.of("sh", "-c", shown), Map.of(), shown)))
                .isEqualTo(run(template, line));
    }

    @Test
    void values_travel_in_the_environment_and_never_in_the_script() throws Exception {
        Command command = ShellTemplate.parse("curl ${line} -o '${n}' \"${line}\"", false)
                .fill(Row.ofLine(AT, 4, "http://h/a b"));

        assertThat(command.words())
                .containsExactly(
                        "sh", "-c", "curl \"${RADDLE_VALUE_1}\" -o ''\"${RADDLE_VALUE_2}\"'' \"${RADDLE_VALUE_1}\"");
        assertThat(command.values())
                .containsOnly(Map.entry("RADDLE_VALUE_1", "http://h/a b"), Map.entry("RADDLE_VALUE_2", "4"));
        assertThat(command.shown()).isEqualTo("curl 'http://h/a b' -o '4' \"http://h/a b\"");
    }

    @Test
    void what_the_shell_owns_is_left_to_it() throws Exception {
        assertThat(run(ShellTemplate.parse("a=1; printf '%s' \"$a $${a} $${a:-x} \\${line} $((2 * 3))\"", false), "z"))
                .isEqualTo("1 1 1 ${line} 6");
    }

    @Test
    void braces_are_the_line_where_that_is_wanted() throws Exception {
        assertThat(run(ShellTemplate.parse("printf '%s' {} '{}'", true), "a b")).isEqualTo("a ba b");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '@',
            value = {
                "echo `cat ${line}` @ inside `…`",
                "echo $((${line} + 1)) @ inside arithmetic",
                "echo $(( (1 + ${line}) * 2 )) @ inside arithmetic",
                "echo \"$((\"${line}\"))\" @ inside arithmetic",
                "(( x = ${line} )) @ inside arithmetic",
                "echo $[ ${line} ] @ inside arithmetic",
                "echo \"$${x:-${line}}\" @ inside the shell's own ${…}"
            })
    void a_placeholder_is_refused_where_no_quoting_is_safe(String script, String where) {
        assertThatThrownBy(() -> ShellTemplate.parse(script, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has the placeholder ${line} " + where);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cat <<END\n${line}\nEND", "cat <<-'END'\n'${line}'\nEND", "cat << END\nEND\necho ${line}"})
    void a_placeholder_is_refused_after_a_here_document(String script) {
        assertThatThrownBy(() -> ShellTemplate.parse(script, false))
                .hasMessageContaining("has the placeholder ${line} after the here-document");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cat <<< ${line}",
                "echo $(( $(printf '%s' ${line} | wc -c) + 1 ))",
                "echo \"$${x:-\"${line}\"}\"",
                "echo $(( 1 << 2 )) ${line}",
                "if [ ${line} = a ]; then (cd ${line}); fi"
            })
    void a_placeholder_is_accepted_where_quoting_is_safe(String script) {
        assertThat(ShellTemplate.parse(script, false).names()).containsExactly("line");
    }

    private String run(ShellTemplate template, String line) throws IOException, UnfitRowException {
        return run(template.fill(Row.ofLine(AT, 1, line)));
    }

    private String run(Command command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command.words()).directory(directory.toFile());
        builder.environment().putAll(command.values());
        builder.redirectErrorStream(true).redirectInput(Path.of("/dev/null").toFile());
        Process process = builder.start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Files.exists(directory)).isTrue();
        return printed;
    }
}
