package dev.raddle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Searches everything that raddle prints and keeps for secrets. */
@Timeout(120)
class SecretRunTest {
    private static final String TOKEN = "ghp_0123 'ä\" $x\\";
    private static final String KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----";
    private static final String PARAM = "hunter22!";

    private static final String FILE = """
            params: { pass: }
            secrets: [TOKEN, KEY, pass]
            results: [p, f, split]
            defaults: { limit: 4 }
            tasks:
              - id: split
                run: |
                  printf %.5s "$TOKEN"
                  printf '%s\\n' "${TOKEN#?????}"
                  echo "$KEY" | sed 's/^/> /' >&2
              - { id: shown, run: [echo, "Bearer ${param.pass}"], env: { PASS: "${param.pass}" } }
              - id: script
                run: echo ${param.pass} "$PASS"; exit 3
                env: { PASS: "${param.pass}" }
                retry: { attempts: 2, backoff: 1ms }
              - { id: absent, run: ["./${param.pass}"] }
              - { id: p, run: "echo \\"$TOKEN\\" ${param.pass}", undo: "echo undo ${p.stdout}" }
              - id: c
                needs: p
                run: test ${p.stdout} = "$TOKEN ${PASS}" && echo equal ${p.stdout}
                env: { PASS: "${param.pass}" }
              - { id: w, run: "echo ${p.exit}", needs: p, when: "${p.stdout} contains ${param.pass}" }
              - { id: f, run: "false", fallback: { value: "instead ${param.pass}" } }
              - { id: g, run: ["echo", "got", "${f.stdout}"], needs: f }
              - { id: nul, run: "printf '\\\\000'; echo \\"$TOKEN\\"" }
              - { id: reads-nul, run: "echo ${nul.stdout}", needs: nul }
              - { id: last, run: "test -e repaired && echo ${c.stdout}", needs: c }
            """;

    @TempDir
    private Path directory;

    private final List<Ended> all = new ArrayList<>();

    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("raddle.yaml"), FILE);
    }

    private Ended raddle(List<String> environment, String... arguments) throws Exception {
        List<String> prefix = new ArrayList<>(List.of("env", "LC_ALL=C.UTF-8", "TOKEN=" + TOKEN, "KEY=" + KEY));
        prefix.addAll(environment);
        Path out = directory.resolve("stdout");
        Path err = directory.resolve("stderr");
        Process process = new ProcessBuilder(OwnJvmTest.words(prefix, arguments))
                .directory(directory.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            Ended ended = new Ended(process.waitFor(), Files.readString(out), Files.readString(err));
            all.add(ended);
            return ended;
        } finally {
            process.destroyForcibly();
        }
    }

    private static void assertHidden(String what, byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        List<String> secrets = new ArrayList<>(KEY.lines().toList());
        secrets.addAll(List.of("ghp_0123", "0123 '", "$x\\", PARAM, "hunter22"));
        for (String secret : secrets) {
            assertThat(text).as(what).doesNotContain(secret);
        }
    }

    private void assertAllHidden() throws IOException {
        for (Ended ended : all) {
            assertHidden("output", (ended.out() + ended.err()).getBytes(StandardCharsets.UTF_8));
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.toList()) {
                assertHidden("name", file.toString().getBytes(StandardCharsets.UTF_8));
                if (Files.isRegularFile(file)) {
                    assertHidden(file.toString(), Files.readAllBytes(file));
                }
            }
        }
    }

    private String kept(String file) throws IOException {
        return Files.readString(directory.resolve("run").resolve(file));
    }

    @Test
    void no_secret_is_printed_or_kept_by_any_command_and_tasks_receive_the_true_values() throws Exception {
        Ended first = raddle(List.of(), "run", "--results", "run", "--param", "pass=" + PARAM);
        assertThat(first.exitCode()).as(first.out() + first.err()).isEqualTo(1);
        assertThat(kept("output/split.log")).contains("***\n", "> ***\n> ***\n> ***\n> ***\n");
        assertThat(kept("output/c.log")).isEqualTo("equal *** ***\n");
        assertThat(kept("output/w.log")).isEqualTo("0\n");
        assertThat(kept("output/g.log")).isEqualTo("got instead ***\n");
        assertThat(kept("values/f.out")).isEqualTo("instead ***");
        assertThat(first.out()).contains("Bearer ***", "equal ***", "cannot start \"./***\"");
        assertThat(kept("report.json")).contains("echo 'Bearer ***'");
        assertThat(kept("run.json")).contains("\"params\":{}");

        Ended missing = raddle(List.of(), "run", "--resume", "run");
        assertThat(missing.exitCode()).isEqualTo(2);
        assertThat(missing.err()).contains("param \"pass\" has no default and needs a value; give it with --param");

        Files.writeString(directory.resolve("repaired"), "");
        raddle(List.of(), "run", "--resume", "run", "--output", "prefix", "--param", "pass=" + PARAM);
        assertThat(all.getLast().out()).contains("last | equal ***");

        raddle(List.of(), "run", "--json", "--results", "json", "--param", "pass=" + PARAM);
        raddle(List.of(), "run", "--dry-run", "--param", "pass=" + PARAM);
        assertThat(all.getLast().out()).contains("'Bearer ***'");
        raddle(List.of("GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary"), "run", "--param", "pass=" + PARAM);
        raddle(List.of(), "explain", "run", "absent");
        assertThat(all.getLast().out()).contains("cannot start \"./***\"");
        raddle(List.of(), "list", "--param", "pass=" + PARAM);
        raddle(List.of(), "graph", "--param", "pass=" + PARAM);

        assertAllHidden();
    }

    @Test
    void a_secret_that_is_short_missing_or_in_the_file_is_refused_without_being_shown() throws Exception {
        raddle(List.of(), "run", "--param", "pass=abc");
        assertThat(all.getLast().err()).contains("secret \"pass\" must have a value of at least 4 characters, had 3");

        Files.writeString(
                directory.resolve("raddle.yaml"),
                "secrets: [TOKEN, KEY, GONE]\ntasks: [{ id: a, run: 'echo MIIEvQIBADANBg', dri: MIIEvQIBADANBg }]");
        raddle(List.of(), "run");
        assertThat(all.getLast().err())
                .contains("secret \"GONE\" must be a param of the file, or a variable of the environment that is set")
                .contains("raddle.yaml:2:1: the file must not contain the value of a secret");

        assertThat(all).allMatch(ended -> ended.exitCode() == 2);
        assertThat(directory.resolve("raddle-runs")).doesNotExist();
        Files.delete(directory.resolve("raddle.yaml"));
        assertAllHidden();
    }
}
