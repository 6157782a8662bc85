package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.run.LineTasks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CommandLinesTest {
    @TempDir
    private Path directory;

    /** Returns an input: options separated by spaces, then the arguments after each {@code :::}. */
    private static MapInput input(String options, String... arguments) throws IOException {
        MapInput input =
                CommandLine.populateCommand(new MapInput(), options.isEmpty() ? new String[0] : options.split(" ", -1));
        WrongArguments wrong = new WrongArguments();
        List<List<String>> groups = new ArrayList<>();
        for (String argument : arguments) {
            if (argument.equals(":::")) {
                groups.add(new ArrayList<>());
            } else {
                groups.getLast().add(argument);
            }
        }
        input.open(groups, wrong);
        assertThat(wrong.text()).isEmpty();
        return input;
    }

    private static List<LineTasks.LineTask> tasks(
            MapInput input, Function<Syntax, CommandTemplate> command, String groupBy) throws IOException {
        CommandLines lines = new CommandLines(
                input,
                command.apply(input.syntax()),
                GroupBy.parse(groupBy, input.syntax()),
                Path.of("/here"),
                null,
                Retry.NONE,
                false);
        List<LineTasks.LineTask> tasks = new ArrayList<>();
        for (LineTasks.LineTask task = lines.next(); task != null; task = lines.next()) {
            tasks.add(task);
        }
        return tasks;
    }

    private static List<List<String>> words(MapInput input, Function<Syntax, CommandTemplate> command)
            throws IOException {
        List<List<String>> words = new ArrayList<>();
        for (LineTasks.LineTask task : tasks(input, command, null)) {
            assertThat(task.error()).isEmpty();
            words.add(task.task().command().words());
        }
        return words;
    }

    private static Function<Syntax, CommandTemplate> command(String... words) {
        return syntax -> CommandLines.words(List.of(words), syntax);
    }

    private static Function<Syntax, CommandTemplate> script(String script) {
        return syntax -> CommandLines.script(script, syntax);
    }

    private static List<String> line(String... words) {
        return List.of(words);
    }

    @Test
    void a_command_without_a_placeholder_gets_the_line_as_its_last_argument() throws Exception {
        assertThat(words(input("", ":::", "a b"), command("curl", "-fsS")))
                .containsExactly(line("curl", "-fsS", "a b"));
        assertThat(words(input("", ":::", "a b"), script("gzip -k")))
                .containsExactly(line("sh", "-c", "gzip -k ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}"));
    }

    @Test
    void placeholders_may_be_anywhere_in_a_word() throws Exception {
        assertThat(words(input("", ":::", "$(a) b"), command("cp", "{}", "x{}.${n}", "$HOME", "{#}")))
                .containsExactly(line("cp", "$(a) b", "x$(a) b.1", "$HOME", "1"));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "a/b.c.d, a/b.c, b.c.d, a, b.c",
                "b, b, b, ., b",
                "/b, /b, b, /, b",
                "a/b/, a/b/, '', a, ''",
                "a.x/b, a.x/b, b, a.x, b",
                "a/.b, a/, .b, a, ''",
                "a., a., a., ., a.",
                "//a b/$(c).d, //a b/$(c), $(c).d, //a b, $(c)"
            })
    void the_parts_of_a_path_are_those_of_gnu_parallel(
            String path, String noExtension, String name, String parent, String bare) throws Exception {
        assertThat(words(input("", ":::", path), command("{.}", "{/}", "{//}", "{/.}")))
                .containsExactly(line(noExtension, name, parent, bare));
        assertThat(words(input("", ":::", path), command("{1.}", "{1/}", "{1//}", "{1/.}")))
                .containsExactly(line(noExtension, name, parent, bare));
    }

    @Test
    void other_braces_are_text() throws Exception {
        String[] text = {"{2}", "{0}", "{line}", "{n}", "{print $1}", "{ }", "{", "}", "{%}", "{1..9}", "$${x}"};

        assertThat(words(input("", ":::", "a"), command(text)))
                .containsExactly(line(
                        "{2}", "{0}", "{line}", "{n}", "{print $1}", "{ }", "{", "}", "{%}", "{1..9}", "${x}", "a"));
    }

    @Test
    void several_values_are_several_arguments_and_a_word_around_them_is_repeated() throws Exception {
        assertThat(words(input("-n 2", ":::", "a b", "c", "d"), command("echo")))
                .containsExactly(line("echo", "a b", "c"), line("echo", "d"));
        assertThat(words(input("-X", ":::", "a", "b", "c"), command("mv", "x{}.y", "{1}", "to")))
                .containsExactly(line("mv", "xa.y", "xb.y", "xc.y", "a", "to"));
        assertThat(words(input("-N2", ":::", "a", "b", "c", "d"), command("cp", "{1}", "{2}")))
                .containsExactly(line("cp", "a", "b"), line("cp", "c", "d"));
    }

    @Test
    void a_command_gets_as_many_values_as_fit_into_128_kib() throws Exception {
        String[] names = IntStream.rangeClosed(0, 9999)
                .mapToObj(i -> i == 0 ? ":::" : "name-%04d".formatted(i))
                .toArray(String[]::new);

        List<List<String>> commands = words(input("-n max", names), command("touch", "{}.jpg"));

        assertThat(commands.stream().flatMap(words -> words.stream().skip(1)))
                .containsExactlyElementsOf(
                        Arrays.stream(names).skip(1).map(name -> name + ".jpg").toList());
        assertThat(commands).hasSize(2);
        assertThat(commands.getFirst().stream()
                        .mapToInt(word -> word.length() + 9)
                        .sum())
                .isBetween(128 * 1024 - 22, 128 * 1024);
    }

    @Test
    void several_values_never_become_the_name_of_a_program() throws Exception {
        String one = "${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}";
        String two = "${RADDLE_VALUE_2+\"$RADDLE_VALUE_2\"}";

        assertThat(words(input("-n 2", ":::", "a", "b"), script("x={} \"<{}>\" {}")))
                .containsExactly(line(
                        "sh", "-c", "x=" + one + "\" \"" + two + " \"<" + one + " " + two + ">\" " + one + " " + two));
    }

    @Test
    void inputs_are_combined_each_with_each_or_linked() throws Exception {
        String[] arguments = {":::", "a", "b", ":::", "1", "2", "3"};

        assertThat(words(input("", arguments), command("{2}", "{1}{2}", "{3}")))
                .containsExactly(
                        line("1", "a1", "{3}"),
                        line("2", "a2", "{3}"),
                        line("3", "a3", "{3}"),
                        line("1", "b1", "{3}"),
                        line("2", "b2", "{3}"),
                        line("3", "b3", "{3}"));
        assertThat(words(input("--link", arguments), command("echo")))
                .containsExactly(line("echo", "a", "1"), line("echo", "b", "2"), line("echo", "a", "3"));
    }

    @Test
    void an_empty_input_among_several_counts_as_one_empty_line() throws Exception {
        Path empty = Files.createFile(directory.resolve("empty"));

        for (String options : new String[] {"-a " + empty, "--link -a " + empty}) {
            assertThat(words(input(options, ":::", "a", "b"), command("echo")))
                    .containsExactly(line("echo", "", "a"), line("echo", "", "b"));
        }
    }

    @Test
    void columns_have_numbers_and_names() throws Exception {
        Path file = Files.writeString(directory.resolve("in"), "Name;E-mail address\nA B;a@b\nC;c@d;more\n");
        String options = "-a " + file + " --colsep ;";

        assertThat(words(input(options + " --header :"), command("{Name}", "<{E-mail address}>", "{2/}", "{Nam}")))
                .containsExactly(line("A B", "<a@b>", "a@b", "{Nam}"), line("C", "<c@d>", "c@d", "{Nam}"));
        assertThat(words(input(options), command("echo")).getLast()).containsExactly("echo", "C", "c@d", "more");
    }

    @Test
    void a_missing_column_is_an_error_of_its_line() throws Exception {
        Path file = Files.writeString(directory.resolve("in"), "a;b\nc\n");

        List<LineTasks.LineTask> tasks = tasks(input("-a " + file + " --colsep ;"), command("echo", "{2}"), null);

        assertThat(tasks).extracting(LineTasks.LineTask::error).first().isEqualTo("");
        assertThat(tasks.getLast().error()).startsWith(file + ":2:1: there is no value \"2\" here");
    }

    @Test
    void all_bytes_but_nul_are_data() throws Exception {
        byte[] bytes = {'a', (byte) 0xE9, '\r', '\n', 'b', '\0', 'c', '\n'};
        Path file = Files.write(directory.resolve("in"), bytes);

        List<LineTasks.LineTask> tasks = tasks(input("-a " + file), command("echo"), null);
        assertThat(tasks.getFirst().task().command().words().getLast().chars().mapToObj(Integer::toHexString))
                .containsExactly("61", "dce9", "d");
        assertThat(tasks.getLast().error()).contains(":2:1: ", "must not contain the character NUL");
        assertThat(words(input("-0 -a " + file), command("echo")))
                .extracting(List::getLast)
                .last()
                .isEqualTo("c\n");
    }

    @Test
    void a_script_is_quoted_for_its_shell() throws Exception {
        assertThat(words(input("", ":::", "a; b"), script("gzip -c {} > \"{}.gz\"")))
                .containsExactly(line(
                        "sh",
                        "-c",
                        "gzip -c ${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"} >"
                                + " \"${RADDLE_VALUE_1+\"$RADDLE_VALUE_1\"}.gz\""));
    }

    @Test
    void each_line_may_be_a_script() throws Exception {
        assertThat(words(input("", ":::", "echo {} $x | wc"), syntax -> null))
                .containsExactly(line("sh", "-c", "echo {} $x | wc"));
    }

    @Test
    void an_unknown_placeholder_is_refused() throws Exception {
        MapInput input = input("", ":::", "a");
        assertThatThrownBy(() -> words(input, command("echo", "${x}")))
                .hasMessage("has the unknown placeholder ${x} (known: ${line}, ${n}, ${host};"
                        + " write $${x} for the characters themselves)");
        assertThatThrownBy(() -> words(input, script("echo `{}`"))).hasMessageContaining("inside `…`");
    }

    @Test
    void an_unusable_line_is_reported_with_its_location() throws Exception {
        assertThat(tasks(input("", ":::", "plain"), command("echo"), "${host}")
                        .getFirst()
                        .error())
                .isEqualTo("argument:1:1: ${host} needs a URL with a host, such as http://example.org/a, was"
                        + " \"plain\"");
        assertThat(tasks(input("", ":::", "b"), command("echo"), "/^(a)?/")
                        .getFirst()
                        .error())
                .isEqualTo("argument:1:1: the group must not be empty, the line was \"b\"");
    }

    @Test
    void every_invalid_option_is_reported_with_a_hint() throws Exception {
        MapInput input = CommandLine.populateCommand(
                new MapInput(), "-n", "echo", "--header", "x", "--colsep", "(", "-a", directory + "/none");
        WrongArguments wrong = new WrongArguments();

        input.open(List.of(List.of()), wrong);

        assertThat(wrong.text().split("\nraddle: "))
                .satisfiesExactly(
                        each -> assertThat(each)
                                .contains("-n must be a number from 1 or max, was \"echo\"", "--dry-run"),
                        each -> assertThat(each).contains("--header : CMD, was \"x\""),
                        each -> assertThat(each).contains("\"(\" is not valid: Unclosed group near index 1"),
                        each -> assertThat(each)
                                .startsWith("-a: ")
                                .endsWith("/none: there is no such file or directory"),
                        each -> assertThat(each).contains("::: must be followed by at least one argument"));
    }
}
