package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.raddle.cli.help.ManPage;
import dev.raddle.cli.help.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The completion scripts and the manual page have exactly the options that are parsed. */
@Timeout(120)
class HelpTextsTest {
    private static final Pattern FISH = Pattern.compile("complete -c raddle -n '.*?= \"([^\"]*)\"'(.*?)(?: -d '.*)?");
    private static final Pattern FISH_OPTION = Pattern.compile(" -([ls]) ([0-9A-Za-z-]+)");
    private static final Pattern ZSH_FUNCTION = Pattern.compile("_(raddle\\w*)\\(\\) \\{");
    private static final Pattern ZSH_OPTION =
            Pattern.compile("(?<=[{,)'])(--?[0-9A-Za-z][A-Za-z-]*)[+=]?(?=[},']|\\[)");

    @TempDir
    private Path directory;

    private static Map<String, TreeSet<String>> parsed() {
        Map<String, TreeSet<String>> options = new TreeMap<>();
        add("raddle", Main.commandLine(), options);
        return options;
    }

    private static void add(String path, CommandLine command, Map<String, TreeSet<String>> options) {
        TreeSet<String> names = new TreeSet<>();
        for (OptionSpec option : command.getCommandSpec().options()) {
            names.addAll(List.of(option.names()));
        }
        options.put(path, names);
        command.getSubcommands().forEach((name, child) -> add(path + " " + name, child, options));
    }

    @Test
    void the_script_for_fish_has_the_options_of_each_command_and_no_others() {
        Map<String, TreeSet<String>> found = new TreeMap<>();
        Shell.FISH.script(Main.commandLine()).lines().forEach(line -> {
            Matcher complete = FISH.matcher(line);
            if (complete.matches() && !complete.group(1).endsWith(" CMD")) {
                TreeSet<String> names = found.computeIfAbsent(complete.group(1), path -> new TreeSet<>());
                Matcher option = FISH_OPTION.matcher(complete.group(2));
                while (option.find()) {
                    names.add((option.group(1).equals("l") ? "--" : "-") + option.group(2));
                }
            }
        });

        assertThat(found).isEqualTo(parsed());
    }

    @Test
    void the_script_for_zsh_has_the_options_of_each_command_and_no_others() {
        Map<String, TreeSet<String>> found = new TreeMap<>();
        TreeSet<String> names = new TreeSet<>();
        for (String line : Shell.ZSH.script(Main.commandLine()).lines().toList()) {
            Matcher function = ZSH_FUNCTION.matcher(line);
            if (function.matches()) {
                names = found.computeIfAbsent(function.group(1).replace('_', ' '), path -> new TreeSet<>());
            }
            Matcher option = ZSH_OPTION.matcher(line.replaceFirst("\\[.*", "[").replaceFirst("^ *'\\([^)]*\\)'", "'"));
            while (line.startsWith("    '") && option.find()) {
                names.add(option.group(1));
            }
        }

        Map<String, TreeSet<String>> expected = new TreeMap<>(); // by the names of functions, which have no dash
        parsed().forEach((path, options) -> expected.put(path.replace('-', ' '), options));
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void the_manual_page_has_the_options_of_each_command_and_no_others() {
        Map<String, TreeSet<String>> found = new TreeMap<>();
        TreeSet<String> names = found.computeIfAbsent("raddle", path -> new TreeSet<>());
        for (String raw : ManPage.of(Main.commandLine(), "raddle 1").lines().toList()) {
            String line = raw.replace("\\-", "-");
            if (line.startsWith(".SS ")) {
                String path = line.substring(5).replaceFirst(" (\\[|[A-Z]).*", "");
                names = found.computeIfAbsent(path, key -> new TreeSet<>());
            } else if (line.startsWith(".B \"-") || line.startsWith(".BI \"-")) {
                String written = line.substring(line.indexOf('"') + 1).replaceFirst("\".*", "");
                for (String name : written.split(", ", -1)) {
                    names.add(name.replaceFirst("[= ]$", ""));
                }
            }
        }

        assertThat(found).isEqualTo(parsed());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "raddle|ma|man map",
                "raddle run|--keep|--keep-going",
                "raddle map --limit 2|--keep-o|--keep-order",
                "raddle graph --format|m|mermaid",
                "raddle completion||bash fish zsh",
                "raddle fleet|se|set",
                "raddle fleet set|--default-l|--default-limit"
            })
    void bash_completes_commands_options_and_values(String words, String word, String expected) throws Exception {
        assertThat(bash(words, word == null ? "" : word)).isEqualTo(expected + "\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "raddle run|de|de$(touch ran) deploy here",
                "raddle run --fail-fast sub/a.yaml|de|de$(touch ran) deploy sub/a.yaml",
                "raddle run deploy|de|de$(touch ran) deploy here",
                "raddle list|de|",
                "raddle run|--fa|--fail-fast"
            })
    void bash_proposes_the_tasks_of_the_file_and_executes_nothing_of_them(String words, String word, String expected)
            throws Exception {
        assertThat(bash(words, word)).isEqualTo((expected == null ? "" : expected) + "\n");
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    private String bash(String words, String last) throws Exception {
        String line = words + " " + last;
        List<String> all = new ArrayList<>(List.of(words.split(" ")));
        all.add(last);
        String quoted = String.join(" ", all.stream().map(w -> "'" + w + "'").toList());
        return run(
                "bash",
                Shell.BASH.script(Main.commandLine()) + "\ncd '" + directory + "'"
                        + "\nraddle() { printf '%s\\n' 'de$(touch ran)' \"deploy ${3-here}\" other; }"
                        + "\nCOMP_WORDS=(" + quoted + ")\nCOMP_CWORD=" + (all.size() - 1)
                        + "\nCOMP_LINE='" + line + "'\nCOMP_POINT=" + line.length()
                        + "\n_complete_raddle"
                        + "\nprintf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort -u | paste -sd ' '\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "raddle ma|man map",
                "raddle run --keep|--keep-going",
                "raddle map --limit 2 --keep-o|--keep-order",
                "raddle graph --format m|mermaid",
                "raddle completion |bash fish zsh",
                "raddle fleet --json se|set",
                "raddle fleet set --default-l|--default-limit",
                "raddle map true --keep-o|"
            })
    void fish_completes_commands_options_and_values(String line, String expected) throws Exception {
        assumeThat(isInstalled("fish")).as("fish is installed").isTrue();
        String script = Shell.FISH.script(Main.commandLine());

        String out = run("fish", script + "\ncomplete -C '" + line + (line.endsWith("completion") ? " " : "") + "'\n");

        TreeSet<String> found = new TreeSet<>();
        out.lines().forEach(proposal -> found.add(proposal.replaceFirst("\t.*", "")));
        if (expected == null) {
            assertThat(found).doesNotContain("--keep-order", "--keep-going");
        } else {
            assertThat(found).containsExactly(expected.split(" "));
        }
    }

    @ParameterizedTest
    @CsvSource({"zsh, ZSH", "fish, FISH", "bash, BASH"})
    void a_shell_finds_no_mistake_in_its_script(String program, Shell shell) throws Exception {
        assumeThat(isInstalled(program)).as(program + " is installed").isTrue();
        Path script = Files.writeString(directory.resolve("script"), shell.script(Main.commandLine()));

        ProcessBuilder builder = new ProcessBuilder(program, "-n", script.toString()).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C.UTF-8");
        Process process = builder.start();

        assertThat(new String(process.getInputStream().readAllBytes())).isEmpty();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void man_formats_the_page_without_a_warning() throws Exception {
        assumeThat(isInstalled("groff")).as("groff is installed").isTrue();
        Path page = Files.writeString(directory.resolve("raddle.1"), ManPage.of(Main.commandLine(), "raddle 1"));

        Process process = new ProcessBuilder("groff", "-man", "-Tutf8", "-ww", "-P-cbou", page.toString())
                .redirectError(directory.resolve("warnings").toFile())
                .start();
        String text = new String(process.getInputStream().readAllBytes());

        assertThat(process.waitFor()).isZero();
        assertThat(directory.resolve("warnings")).isEmptyFile();
        assertThat(text).contains("--group-by", "${host}", "EXIT STATUS", "141  the reader of the output closed it");
    }

    private String run(String shell, String script) throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("script"), script);
        ProcessBuilder builder =
                new ProcessBuilder(shell, file.toString()).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().put("HOME", directory.toString());
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes());
        process.waitFor();
        return out;
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(":")).anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    }
}
