package dev.raddle.cli.file.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.ShellTemplate.Quotes;
import dev.raddle.cli.file.value.Location;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs scripts with hostile values in real shells. */
class ShellTemplateTest {
    private static final Location AT = new Location("data.txt", 1, 1);
    private static final List<String> HOSTILE = Stream.of(
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
                    "")
            .filter(
                    Charset.forName(System.getProperty("sun.jnu.encoding")).newEncoder()
                            ::canEncode) // the locale C has no letters but ASCII
            .toList();

    @TempDir
    private Path directory;

    static Stream<String> hostile() {
        return HOSTILE.stream();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_line_of_data_never_becomes_code(String line) throws Exception {
        String script = """
                printf '<%s>' ${line} x${line}y "${line}" "x${line}y" "$(printf '%s.' ${line})" \\
                    "it's" 'say "hi"' "$( (printf '%s.' "${line}") )" # don't ${line}
                printf '<%s>' ${line}""";

        String printed = run(ShellTemplate.parse(script, Syntax.ROWS), line);

        assertThat(printed)
                .isEqualTo("<" + line + "><x" + line + "y><" + line + "><x" + line + "y><" + line
                        + ".><it's><say \"hi\"><" + line + ".><" + line + ">");
        assertThat(directory).isEmptyDirectory();
    }

    static Stream<String> oddPlaces() {
        return Stream.of(
                "printf '%s\\n' \"$(case x in x) printf '[%s]' ${line};; esac)\"",
                "printf '%s\\n' \"$(case x in (y) ;; (x|z) printf '[%s]' ${line} ;; esac)\"",
                "printf '%s\\n' \"$(case case in in) ;; case) printf '[%s]' ${line};; esac)\"",
                "printf '%s\\n' \"$(# it's\nprintf '[%s]' ${line})\"",
                "x=$(# \"it\nprintf '[%s]' ${line}); printf '%s\\n' \"$x\"",
                "printf '%s\\n' \"$(printf '[%s]' \"${line}\" # a ) and a \"\n)\"",
                "f() { printf '[%s]' ${line}; }; x=$(f); printf '%s\\n' \"$x\"",
                "x=$(if true; then (printf '[%s]' ${line}); fi); printf '%s\\n' \"$x\"",
                "x=$(for case in a; do printf '[%s]' ${line}; done); printf '%s\\n' \"$x\"");
    }

    static Stream<Arguments> oddPlacesAndShells() {
        return oddPlaces().flatMap(script -> SHELLS.stream().map(shell -> Arguments.of(script, shell)));
    }

    @ParameterizedTest
    @MethodSource("oddPlacesAndShells")
    void a_value_is_one_word_at_every_location(String script, List<String> shell) throws Exception {
        for (String line : HOSTILE) {
            if (line.endsWith("\n")) {
                continue; // $(…) removes line breaks at the end
            }
            assertThat(run(ShellTemplate.parse(script, Syntax.ROWS), line, shell))
                    .isEqualTo("[" + line + "]\n");
        }
        assertThat(directory).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_reference_yields_one_word_even_if_the_quotes_are_misjudged(String line) throws Exception {
        for (Quotes quotes : List.of(Quotes.NONE, Quotes.DOUBLE)) {
            String reference = quotes.reference("V");
            for (List<String> shell : SHELLS) {
                List<String> words = new ArrayList<>(shell);
                words.addAll(
                        List.of("-c", "printf '<%s>' " + reference + " \"" + reference + "\" a" + reference + "b"));
                Command command = new Command(words, Map.of("V", line), "");

                assertThat(run(command)).isEqualTo("<" + line + "><" + line + "><a" + line + "b>");
            }
        }
        assertThat(directory).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void the_shown_command_has_the_same_effect_when_it_is_pasted(String line) throws Exception {
        ShellTemplate template =
                ShellTemplate.parse("printf '<%s>' ${line} \"a${line}\" x=${line} # ${line}", Syntax.ROWS);

        String shown = template.fill(Row.ofLine(AT, 1, line)).shown();

        assertThat(run(new Command(List.of("sh", "-c", shown), Map.of(), shown)))
                .isEqualTo(run(template, line));
    }

    @Test
    void values_are_passed_in_the_environment_and_never_in_the_script() throws Exception {
        Command command = ShellTemplate.parse("curl ${line} -o \"${n}\" \"${line}\"", Syntax.ROWS)
                .fill(Row.ofLine(AT, 4, "http://h/a b"));

        assertThat(command.words())
                .containsExactly(
                        "sh",
                        "-c",
                        "curl ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"} -o \"${RADDLE_VALUE_2+\"$RADDLE_VALUE_2\"}\""
                                + " \"${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}\"");
        assertThat(command.values())
                .containsOnly(Map.entry("RADDLE_VALUE_1", "http://h/a b"), Map.entry("RADDLE_VALUE_2", "4"));
        assertThat(command.shown()).isEqualTo("curl 'http://h/a b' -o \"4\" \"http://h/a b\"");
    }

    @Test
    void expansions_of_the_shell_are_left_unchanged() throws Exception {
        assertThat(run(
                        ShellTemplate.parse("a=1; printf '%s' \"$a $${a} $${a:-x} \\${line} $((2 * 3))\"", Syntax.ROWS),
                        "z"))
                .isEqualTo("1 1 1 ${line} 6");
    }

    @Test
    void braces_are_the_line_where_that_is_wanted() throws Exception {
        assertThat(run(ShellTemplate.parse("printf '%s' {} \"{}\"", Syntax.arguments(name -> null)), "a b"))
                .isEqualTo("a ba b");
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
                "echo \"$${x:-${line}}\" @ inside the shell's own ${…}",
                "echo \"<${line}>\" '<${line}>' @ inside single quotes",
                "trap 'echo ${line}' EXIT @ inside single quotes",
                "trap \"echo ${line}\" EXIT @ after \"trap\"",
                "\\trap \"echo ${line}\" EXIT @ after \"trap\"",
                "x=1 command ev'al' \"echo ${line}\" @ after \"eval\"",
                "true; eval \"$(echo ${line})\" @ after \"eval\"",
                "alias x=${line} @ after \"alias\"",
                "if ! let ${line}; then :; fi @ after \"let\""
            })
    void a_placeholder_is_refused_where_no_quoting_is_safe(String script, String where) {
        assertThatThrownBy(() -> ShellTemplate.parse(script, Syntax.ROWS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has the placeholder ${line} " + where);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cat <<END\n${line}\nEND", "cat <<-'END'\n'${line}'\nEND", "cat << END\nEND\necho ${line}"})
    void a_placeholder_is_refused_after_a_here_document(String script) {
        assertThatThrownBy(() -> ShellTemplate.parse(script, Syntax.ROWS))
                .hasMessageContaining("has the placeholder ${line} after the here-document");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cat <<< ${line}",
                "echo $(( $(printf '%s' ${line} | wc -c) + 1 ))",
                "echo \"$${x:-\"${line}\"}\"",
                "echo $(( 1 << 2 )) ${line}",
                "if [ ${line} = a ]; then (cd ${line}); fi",
                "trap 'rm -f \"$tmp\"' EXIT; echo ${line}",
                "eval \"$x\" && echo ${line} >&2 | cat",
                "case ${line} in a|b) echo ${line};; *) :;; esac; echo ${line}",
                "a=(1 2); echo ${line} <(echo ${line})"
            })
    void a_placeholder_is_accepted_where_quoting_is_safe(String script) {
        assertThat(ShellTemplate.parse(script, Syntax.ROWS).names()).containsExactly("line");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "echo ${line} \"",
                "echo ${line} )",
                "echo $(echo ${line}",
                "case x in x) echo ${line}",
                "echo ${line} $'it\\'s'",
                "echo ${line} \"$${x#'}'}\"",
                "echo $((echo a); (echo ${line}))"
            })
    void a_script_whose_quotes_cannot_be_determined_is_refused(String script) {
        assertThatThrownBy(() -> ShellTemplate.parse(script, Syntax.ROWS)).isInstanceOf(IllegalArgumentException.class);
    }

    /*
     * Random scripts of the grammar below. Each location with a value records how many words the value became and
     * which; other output of a script is ignored. A shell that finds a syntax error ends before it executes any part of
     * the script, which proves nothing and is not counted.
     */
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void in_random_scripts_every_value_is_one_word_and_never_code() throws Exception {
        long seed = Long.getLong("raddle.shell.seed", 20_260_131);
        int accepted = 0;
        for (int i = 0; i < SCRIPTS; i++) {
            Random random = new Random(seed + i);
            String script = new RandomScript(random).text();
            ShellTemplate template;
            try {
                template = ShellTemplate.parse(script, Syntax.ROWS);
            } catch (IllegalArgumentException e) {
                continue;
            }
            accepted++;
            String line = HOSTILE.get(random.nextInt(HOSTILE.size()));
            for (List<String> shell : SHELLS) {
                Path log = directory.resolve("log");
                Files.writeString(log, "");
                run(template, line, shell);
                assertThat(Files.readString(log).replace("<1|" + line + ">", ""))
                        .as("seed " + (seed + i) + ", " + shell + ", value " + line + ", script:\n" + script)
                        .isEmpty();
                Files.delete(log);
                assertThat(directory).as("seed " + (seed + i)).isEmptyDirectory();
            }
        }
        assertThat(accepted).isGreaterThan(SCRIPTS / 3);
    }

    private static final int SCRIPTS = Integer.getInteger("raddle.shell.scripts", 60);

    /** Generates scripts. */
    private static final class RandomScript {
        private static final String SHOW = "show() { printf '<%s|%s>' $# \"$1\" >> log; }; true 'a' \"b\"\n";
        private final Random random;
        private int depth;

        RandomScript(Random random) {
            this.random = random;
        }

        String text() {
            return SHOW + list();
        }

        private String list() {
            StringBuilder list = new StringBuilder();
            int commands = 1 + random.nextInt(3);
            for (int i = 0; i < commands; i++) {
                list.append(command()).append(pick(";", "\n", " # it's \"a\" ) $( ` ${line}\n", " && true\n", ";\n\n"));
            }
            return list.toString();
        }

        private String command() {
            if (depth > 4) {
                return show();
            }
            depth++;
            try {
                return switch (random.nextInt(16)) {
                    case 0 -> "( " + list() + " )";
                    case 1 -> "{ " + list() + " }";
                    case 2 ->
                        "case " + word() + " in " + pick("", "(") + pattern() + ") " + list() + pick(";;", "")
                                + pick(" *) :;;", "").replaceFirst("^ \\*", pick(" *", "\n*")) + " esac";
                    case 3 -> "case in in in) " + list() + " ;; esac";
                    case 4 -> "if true; then " + list() + " else " + list() + " fi";
                    case 5 -> "for case in a; do " + list() + " done";
                    case 6 -> "while true; do " + list() + " break; done";
                    case 7 -> "f() { " + list() + " }; f";
                    case 8 -> "echo \"" + inDouble() + "$(" + list() + ")" + inDouble() + "\"";
                    case 9 -> "x=$(" + list() + ")";
                    case 10 -> "true | { " + show() + "; }";
                    case 11 -> "echo 2>&1 " + word() + " " + word() + " >/dev/null";
                    case 12 -> "trap 'true \"$x\"' EXIT";
                    case 13 -> "x=$(( (1 + 2) << 1 )) y=$${x#*'}'} z=\"$${x:-\"a b\"}\"";
                    default -> show();
                };
            } finally {
                depth--;
            }
        }

        private String pattern() {
            return pick("x", "*", "'x'|\"y\"", "esac2", "[a-c]", "\\)", "in", "\"${line}\"");
        }

        private String show() {
            return pick(
                            "show ${line}",
                            "show \"${line}\"",
                            "show ${line} # it's",
                            "y=${line}; show \"$y\"",
                            "show \\\n${line}",
                            "sh" + "ow '' && : || show ${line}",
                            "show \"$(printf '%s.' ${line})\"; :")
                    .replace("show '' && : ||", "false ||")
                    .replace("show \"$(printf '%s.' ${line})\"; :", "y=\"$(printf '%s.' ${line})\"; show \"$${y%.}\"");
        }

        private String word() {
            return pick(
                    "a",
                    "'it''s'",
                    "\"x y\"",
                    "a\\ b",
                    "\\'",
                    "\\\"",
                    "$(echo ')')",
                    "\"$(echo \")\")\"",
                    "#a'b'",
                    "a#\\'",
                    "\"$${x:-a}\"",
                    "x${line}y",
                    "\"${line}\"",
                    "esac",
                    "in",
                    "case");
        }

        private String inDouble() {
            return pick("", "it's ", "\\\" ", "# ", "$(echo \"it's\") ", "${line}", ") ", "case ");
        }

        private String pick(String... choices) {
            return choices[random.nextInt(choices.length)];
        }
    }

    private static final List<List<String>> SHELLS = Stream.of(
                    List.of("sh"),
                    List.of("dash"),
                    List.of("bash"),
                    List.of("bash", "--posix"),
                    List.of("busybox", "sh"))
            .filter(ShellTemplateTest::exists)
            .toList();

    private static boolean exists(List<String> shell) {
        try {
            List<String> words = new ArrayList<>(shell);
            words.addAll(List.of("-c", ":"));
            return new ProcessBuilder(words).start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    private String run(ShellTemplate template, String line, List<String> shell)
            throws IOException, InvalidRowException {
        Command command = template.fill(Row.ofLine(AT, 1, line));
        List<String> words = new ArrayList<>(shell);
        words.addAll(command.words().subList(1, command.words().size()));
        return run(new Command(words, command.values(), command.shown()));
    }

    private String run(ShellTemplate template, String line) throws IOException, InvalidRowException {
        return run(template.fill(Row.ofLine(AT, 1, line)));
    }

    private String run(Command command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command.words()).directory(directory.toFile());
        builder.environment().putAll(command.values());
        builder.environment().put("LC_ALL", "C.UTF-8"); // a shell complains about one that is not installed
        builder.redirectErrorStream(true).redirectInput(Path.of("/dev/null").toFile());
        Process process = builder.start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Files.exists(directory)).isTrue();
        return printed;
    }
}
