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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches everything that raddle prints and keeps for secrets. */
@Timeout(120)
class SecretRunTest {
    private static final String TOKEN = "ghp_0123 'ä\" $x\\";
    private static final String KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----";
    private static final String PARAM = "hunter22!";

    /** A part of every secret of the tests of texts that are changed before they are shown. */
    private static final String MARKER = "MARKER";

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
        secrets.addAll(List.of("ghp_0123", "0123 '", "$x\\", PARAM, "hunter22", MARKER));
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hunter\"MARKER",
                "\"q MARKER\"",
                "left\tMARKER",
                "left\u001bMARKER",
                "left\nMARKER right\n",
                "a\\\"MARKER",
                "\u202eleft MARKER"
            })
    void no_change_of_a_text_before_it_is_shown_reveals_a_secret(String secret) throws Exception {
        Files.writeString(directory.resolve("raddle.yaml"), """
                params: { tok: }
                secrets: [tok]
                tasks:
                  - { id: absent, run: ["./${param.tok}"], retry: { attempts: 2, backoff: 1ms } }
                  - { id: undone, run: "true", undo: ["./${param.tok}"] }
                  - { id: fallen, run: "false", fallback: ["./${param.tok}"] }
                  - { id: env, run: [sh, -c, 'exit 3'], env: { X: "${param.tok}" } }
                  - { id: printed, run: [printf, '%s', "${param.tok}"] }
                  - { id: reads, run: ["./${printed.stdout}"], needs: printed }
                  - { id: needs, run: "false", needs: undone }
                """);
        String given = "tok=" + secret;

        assertThat(raddle(List.of(), "run", "--results", "run", "--param", given)
                        .exitCode())
                .isEqualTo(1);
        assertThat(kept("report.json")).contains("cannot start \\\"./***\\\"");
        raddle(List.of(), "run", "--resume", "run", "-p" + given);
        raddle(List.of(), "run", "--resume", "run", "--json", "--param=" + given);
        raddle(List.of(), "run", "--quiet", "--output", "prefix", "-p", given);
        raddle(List.of("GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary"), "run", "-k", "-p", given);
        raddle(List.of(), "run", "--dry-run", "--json", "-p", given);
        raddle(List.of(), "list", "-p", given);
        raddle(List.of(), "graph", "-p", given);
        raddle(List.of(), "explain", "run", "absent");
        raddle(List.of(), "explain", "run", "undone");

        assertAllHidden();
        assertThat(all).noneMatch(ended -> ended.err().contains("picocli"));
    }

    @Test
    void a_param_that_is_misspelt_is_not_repeated_with_its_value() throws Exception {
        raddle(List.of(), "run", "--param", MARKER);
        assertThat(all.getLast().err()).contains("must be NAME=VALUE, had no =");
        raddle(List.of(), "run", "--parm=pass=" + MARKER);
        assertThat(all.getLast().err()).contains("Unknown option: '--parm=…'");
        raddle(List.of(), "run", "--parm", "pass=" + MARKER);
        raddle(List.of(), "run", "-p", "pass=" + PARAM, "pass=" + MARKER);
        assertThat(all.getLast().err())
                .contains("no task of the file is \"pass=…\"; a param is set by --param pass=VALUE");
        raddle(List.of(), "check", "raddle.yaml", "pass=" + MARKER);
        assertThat(all.getLast().err()).contains("One argument too many: 'pass=…'");

        assertThat(all).allMatch(ended -> ended.exitCode() == 2);
        assertAllHidden();
    }

    @Test
    void a_secret_in_what_is_kept_or_printed_of_the_run_itself_is_refused() throws Exception {
        String given = "pass=" + MARKER;
        Files.writeString(
                directory.resolve("named.yaml"),
                "params: { pass:  }\nsecrets: [pass]\ntasks: [{ id: a, run: 'true ${param.pass}' }]\n");
        Files.writeString(
                directory.resolve("more.yaml"),
                "params: { pass: , url: none }\nsecrets: [pass]\n"
                        + "tasks: [{ id: a, run: 'true ${param.pass} ${param.url}' }]\n");
        raddle(List.of(), "run", "--results", "d-" + MARKER, "-p", given, "named.yaml");
        assertThat(all.getLast().err()).contains("neither --results nor --report may contain a secret");
        raddle(List.of(), "run", "--report", MARKER + ".json", "-p", given, "named.yaml");
        raddle(List.of(), "run", "-p", given, "-p", "url=https://me:" + MARKER + "@host/", "more.yaml");
        assertThat(all.getLast().err()).contains("param \"url\" must not contain the value of a secret");
        Files.copy(directory.resolve("named.yaml"), directory.resolve(MARKER + ".yaml"));
        for (String command : List.of("run", "check", "list", "graph")) {
            raddle(List.of(), command, "-p", given, MARKER + ".yaml");
            assertThat(all.getLast().err()).contains("***.yaml:2:10: neither the name of the run nor that of its file");
        }

        assertThat(all).allMatch(ended -> ended.exitCode() == 2);
        Files.delete(directory.resolve(MARKER + ".yaml"));
        assertAllHidden();
    }

    @Test
    void the_start_of_a_secret_that_a_message_cuts_is_hidden() throws Exception {
        String secret = MARKER.repeat(20) + "end";
        Files.writeString(
                directory.resolve("raddle.yaml"),
                "params: { pass: }\nsecrets: [pass]\ntasks: [{ id: a, run: 'true ${param.pass}', priority: '" + secret
                        + "' }]\n");
        raddle(List.of(), "run", "-p", "pass=" + secret);
        assertThat(all.getLast().err()).contains("priority must be");
        Files.delete(directory.resolve("raddle.yaml"));
        assertAllHidden();
    }
}
