package dev.raddle.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the output on a real terminal, which {@code script} of util-linux provides. */
@Timeout(200)
class TerminalTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void write() throws Exception {
        Raddle.assertThatItIsBuilt();
        assumeThat(terminal("true", Map.of()).exitCode())
                .as("script of util-linux is installed")
                .isZero();
        Files.writeString(directory.resolve("checks.yaml"), """
                groups: { web: { limit: 2 } }
                tasks:
                  - { forEach: [1, 2, 3, 4], id: "w${line}", group: web, run: "until [ -e go ]; do sleep 0.05; done" }
                  - { id: bad, run: "echo first; echo second; exit 3" }
                """);
    }

    private record Shown(int exitCode, String text) {}

    private Shown terminal(String command, Map<String, String> environment) throws InterruptedException {
        try {
            Process process = start(command, environment);
            process.getOutputStream().close();
            String text = read(process.getInputStream());
            return new Shown(process.waitFor(), text);
        } catch (IOException e) {
            return new Shown(127, String.valueOf(e.getMessage()));
        }
    }

    private Process start(String command, Map<String, String> environment) throws IOException {
        List<String> words = new ArrayList<>(Raddle.WITH_SIGNALS);
        words.addAll(List.of("script", "-qec", "stty cols 100 rows 30; " + command, "/dev/null"));
        ProcessBuilder builder =
                new ProcessBuilder(words).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().putAll(Map.of("TERM", "xterm", "LC_ALL", "C.UTF-8", "RADDLE_BUILD", "never"));
        builder.environment().remove("NO_COLOR");
        builder.environment().putAll(environment);
        return builder.start();
    }

    @Test
    void ctrl_c_on_the_keyboard_interrupts_the_run_and_fails_no_task() throws Exception {
        // Ctrl-C also reaches the commands; a command that it ends must not count as failed and be tried again.
        Files.writeString(
                directory.resolve("checks.yaml"),
                "defaults: { limit: 2 }\n"
                        + "tasks: [{ forEach: [1, 2, 3, 4], id: 's${n}', run: 'exec sleep 600', retry: 3 }]");
        Process process = start(raddle() + " run --results run checks.yaml", Map.of());
        try (Reader reader = new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)) {
            StringBuilder text = new StringBuilder();
            boolean pressed = false;
            for (int c = reader.read(); c >= 0; c = reader.read()) {
                text.append((char) c);
                if (!pressed && c == '\n' && text.lastIndexOf("2 running     2 waiting") >= 0) {
                    pressed = true;
                    process.getOutputStream().write(3);
                    process.getOutputStream().flush();
                }
            }
            assertThat(process.waitFor()).as(text.toString()).isEqualTo(130);
        }
        Map<?, ?> totals = (Map<?, ?>) Raddle.report(directory.resolve("run")).get("totals");
        assertThat(totals.get("cancelled")).isEqualTo(4);
        assertThat(totals.get("attempts")).isEqualTo(2);
    }

    /** Reads the screen, and releases the tasks when it shows that they are running. */
    private String read(InputStream stream) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Reader reader = new InputStreamReader(stream, StandardCharsets.UTF_8)) {
            for (int c = reader.read(); c >= 0; c = reader.read()) {
                text.append((char) c);
                if (c == '\n' && text.lastIndexOf("2 running     2 waiting") >= 0) {
                    Files.writeString(directory.resolve("go"), "");
                }
            }
        }
        return text.toString();
    }

    private static String raddle() {
        return "'" + Raddle.ROOT.resolve("raddle") + "'";
    }

    @Test
    void bars_move_failures_are_printed_above_them_and_the_cursor_is_restored() throws Exception {
        Shown shown = terminal(raddle() + " run checks.yaml", Map.of());

        assertThat(shown.exitCode()).as(shown.text()).isEqualTo(1);
        assertThat(shown.text())
                .contains("\033[?25l", "█", "2 running", "2 waiting", "4/4", "total", "    first", "    second")
                .containsPattern("failed\033\\[0m +bad \\[default]: exit code 3")
                .contains("5 tasks: 4 succeeded, 1 failed")
                .doesNotContain("start     ");
        assertThat(shown.text().lastIndexOf("\033[?25h"))
                .isGreaterThan(shown.text().lastIndexOf("\033[?25l"));
    }

    @Test
    void no_color_means_no_colour() throws Exception {
        Shown shown = terminal(raddle() + " run checks.yaml", Map.of("NO_COLOR", "1"));

        assertThat(shown.text()).contains("█", "failed").doesNotContainPattern("\033\\[[0-9;]*m");
    }

    @Test
    void map_shows_its_bars_although_it_reads_from_a_pipe() throws Exception {
        Shown shown = terminal(
                "printf '1\\n2\\n3\\n' | " + raddle() + " map --limit 1 --shell 'sleep 0.3; echo out{}'", Map.of());

        assertThat(shown.exitCode()).as(shown.text()).isZero();
        assertThat(shown.text()).contains("out1\r\n", "out3\r\n", "█", "3 tasks: 3 succeeded");
    }
}
