package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Problem;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The mistakes in a run file, each with its location. */
class InvalidRunFileTest {
    @Test
    void all_problems_are_reported_together_each_with_its_line_and_column() {
        assertThat(RunFiles.problems("""
                        nmae: x
                        groups:
                          db: { limt: 1 }
                          web: { limit: four, queue: -1 }
                        jobs: 0
                        tasks:
                          - { id: a, run: "true", timeout: 5 }
                          - { id: a, run: "true", retry: { attempts: 0, backof: 1s } }
                          - { id: "", run: { x: 1 } }
                          - run: "true"
                          - { forEach: none.txt, id: "x", run: "echo ${line}" }
                        """))
                .containsExactly(
                        "checks.yaml:1:1: unknown key \"nmae\" in the file; did you mean \"name\"?"
                                + " (allowed: name, params, secrets, defaults, groups, jobs, total, timeout, results,"
                                + " tasks)",
                        "checks.yaml:3:9: unknown key \"limt\" in group \"db\"; did you mean \"limit\"?"
                                + " (allowed: limit, queue, weight, rate, burst)",
                        "checks.yaml:4:17: limit must be a whole number of at least 1, was \"four\"",
                        "checks.yaml:4:30: queue must be a whole number of at least 0, was -1",
                        "checks.yaml:5:7: jobs must be a whole number of at least 1, auto or unlimited, was 0",
                        "checks.yaml:7:36: timeout must be a number with a unit (ms, s, m or h), such as 200ms or 5s,"
                                + " was \"5\"",
                        "checks.yaml:8:49: unknown key \"backof\" in retry; did you mean \"backoff\"?"
                                + " (allowed: attempts, backoff)",
                        "checks.yaml:8:46: attempts must be a whole number from 1 to 1000, was 0",
                        "checks.yaml:9:11: id must not be empty",
                        "checks.yaml:9:20: run must be a text (for the shell) or a list (a program and its arguments),"
                                + " was a map",
                        "checks.yaml:10:5: task needs the key \"id\"",
                        "checks.yaml:11:16: forEach must name a file that exists, relative to the directory of"
                                + " checks.yaml, was \"none.txt\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "limit: 0 | 1:23: limit must be a whole number of at least 1, was 0",
                "limit: 1.5 | 1:23: limit must be a whole number of at least 1, was 1.5",
                "limit: \"4\" | 1:23: limit must be a whole number of at least 1, was \"4\"",
                "limit: | 1:22: limit must be a whole number of at least 1, was nothing",
                "limit: [4] | 1:23: limit must be a whole number of at least 1, was a list of 1",
                "limit: {} | 1:23: limit must be a whole number of at least 1, was a map",
                "limit: 9999999999 | 1:23: limit must be a whole number of at least 1, was 9999999999",
                "weight: 0 | 1:24: weight must be a whole number from 1 to 1000000, was 0",
                "rate: 5 | 1:22: rate must be a number of at least 1, a slash and a time (ms, s, m or h), such as 5/s,"
                        + " 300/m or 10/30s, was \"5\"",
                "burst: 5 | 1:23: burst needs the key \"rate\" beside it",
                "rate: 5/s, burst: 0 | 1:34: burst must be a whole number of at least 1, was 0",
                "limit: 1, limit: 2 | 1:26: key \"limit\" occurs twice in group \"a\""
            })
    void a_value_of_the_wrong_type_is_reported_with_the_allowed_values(String rule, String problem) {
        assertThat(RunFiles.problems("groups: { a: { " + rule + " } }\ntasks: [{ id: a, run: 'true' }]"))
                .containsExactly("checks.yaml:" + problem);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "id: a, run: 'true', timeout: 0s | timeout must be longer than 0, was \"0s\"",
                "id: a, run: 'true', timeout: 1y | timeout must be a number with a unit (ms, s, m or h), such as 200ms"
                        + " or 5s, was \"1y\"",
                "id: a, run: 'true', retry: 0 | retry must be a number of attempts from 1 to 1000 or a map with"
                        + " attempts and backoff, was 0",
                "id: a, run: 'true', retry: {} | retry needs the key \"attempts\"",
                "id: a, run: 'true', retry: { attempts: 2, backoff: 5s..1s } | backoff must not begin above its end,"
                        + " was \"5s..1s\"",
                "id: a, run: [] | run must name at least a program, was an empty list",
                "id: a, run: [''] | the program to run must not be empty",
                "id: a, run: [echo, [a]] | an argument of run must be a text, was a list of 1",
                "id: a, run: [echo, null] | an argument of run must be a text, was nothing",
                "id: a, run: '' | run must not be empty",
                "id: a | task needs the key \"run\"",
                "id: a, run: 'true', env: [A=1] | env must be a map, was a list of 1",
                "id: a, run: 'true', env: { 'A=B': 1 } | the name of an environment variable must not be empty and must"
                        + " not contain =, was \"A=B\"",
                "id: a, run: 'true', env: { RADDLE_VALUE_1: 1 } | environment variables that begin with RADDLE_ are set"
                        + " by raddle itself, was \"RADDLE_VALUE_1\"; choose another name",
                "id: a, run: 'true', env: { A: null } | env A must be a text, was nothing",
                "id: a, run: 'true', priority: high | priority must be a whole number from -1000000 to 1000000, was"
                        + " \"high\"",
                "id: a, group: one, run: 'true', cost: 2 | the cost of task \"a\" must be at most what group \"one\""
                        + " may run at once, 1, was 2",
                "id: a, run: 'true', default: x | unknown key \"default\" in task (allowed:"
                        + " id, desc, group, run, forEach, env, dir, timeout, retry, priority, cost, needs, when,"
                        + " fallback, undo, essential)",
                "id: a, run: 'true', desc: '' | desc must not be empty",
                "id: 'a${n}', run: 'true' | id has the placeholder ${n}, but only a task with forEach has values; write"
                        + " $${ for the characters ${",
                "id: a, group: '${host}', run: 'true' | group has the placeholder ${host}, but only a task with forEach"
                        + " has values; write $${ for the characters ${",
                "id: a, group: '', run: 'true' | group must not be empty",
                "id: \"a\\0b\", run: 'true' | id must not contain the character NUL",
                "forEach: {}, id: a, run: 'true' | forEach must be the name of a file or a list, was a map",
                "forEach: '', id: a, run: 'true' | forEach must not be empty",
                "forEach: [a, b], id: a, run: 'true' | the id of a task with forEach must contain a placeholder, such"
                        + " as ${n}, so that every task has its own",
                "forEach: [a], id: a, run: 'echo ${lin}' | unknown placeholder ${lin} in run; did you mean \"line\"?"
                        + " (known here: line, host, n; write $${lin} for the shell's own variable)",
                "forEach: [a], id: 'a${line', run: 'true' | id has a placeholder without an end: \"${line\"; close it"
                        + " with }, or write $${ for the characters ${",
                "forEach: [a], id: a, run: 'echo `${line}`' | run has the placeholder ${line} inside `…`, where it"
                        + " cannot be quoted; use $(…) instead",
                "forEach: [{ b: 1 }], id: a, run: ['${line}'] | unknown placeholder ${line} in run (known here: b, n;"
                        + " write $${line} for the shell's own variable)"
            })
    void an_invalid_task_is_reported_with_the_allowed_values(String task, String problem) {
        assertThat(RunFiles.problems("tasks:\n  - { " + task + " }\ngroups: { one: { limit: 1 } }\n"))
                .singleElement()
                .asString()
                .matches("checks\\.yaml:2:\\d+: .*")
                .endsWith(": " + problem);
    }

    @Test
    void an_unknown_key_is_reported_with_the_allowed_ones() {
        String inFile = " (allowed: name, params, secrets, defaults, groups, jobs, total, timeout, results, tasks)";
        String inGroup = " (allowed: limit, queue, weight, rate, burst)";
        assertThat(RunFiles.problems("""
                        globalMaxInFlight: 8
                        outputs: [a]
                        groups: { a: { maxInFlight: 8, threads: platform } }
                        total: { limit: 8 }
                        timeout: 0s
                        tasks: [{ id: a, run: "true" }]
                        """))
                .containsExactly(
                        "checks.yaml:1:1: unknown key \"globalMaxInFlight\" in the file" + inFile,
                        "checks.yaml:2:1: unknown key \"outputs\" in the file" + inFile,
                        "checks.yaml:3:16: unknown key \"maxInFlight\" in group \"a\"" + inGroup,
                        "checks.yaml:3:32: unknown key \"threads\" in group \"a\"" + inGroup,
                        "checks.yaml:4:10: unknown key \"limit\" in total (allowed: queue, rate, burst)",
                        "checks.yaml:5:10: timeout must be longer than 0, was \"0s\"");
    }

    @Test
    void an_id_must_be_unique_also_among_lines_of_data() {
        assertThat(RunFiles.problems("""
                        tasks:
                          - { id: b, run: "true" }
                          - { forEach: a.txt, id: "${line}", run: "true" }
                        """, Map.of("a.txt", "a\nb\na\n")))
                .containsExactly(
                        "a.txt:2:1: the id of a task must be unique, \"b\" is already used at checks.yaml:2:5",
                        "a.txt:3:1: the id of a task must be unique, \"a\" is already used at a.txt:1:1");
    }

    @Test
    void every_unusable_line_of_data_is_reported_with_its_location() {
        assertThat(RunFiles.problems(
                        "tasks: [{ forEach: a.txt, id: 'x${n}', group: '${host}', run: 'echo ${line}' }]",
                        Map.of("a.txt", "http://a/\nplain\n\nb\0c\n")))
                .containsExactly(
                        "a.txt:2:1: ${host} needs a URL with a host, such as http://example.org/a, was \"plain\"",
                        "a.txt:4:1: ${line} must not contain the character NUL, was \"b\\u0000c\"");
    }

    @Test
    void an_object_without_a_required_field_is_reported_with_its_location() {
        assertThat(RunFiles.problems(
                        "tasks: [{ forEach: a.jsonl, id: 'x${n}', run: 'echo ${a}' }]",
                        Map.of("a.jsonl", "{\"a\": 1}\n{\"b\": 1}\n{\"a\": null}\n")))
                .containsExactly(
                        "a.jsonl:2:1: there is no value \"a\" here, which ${a} needs",
                        "a.jsonl:3:1: ${a} must be a text, a number or a boolean, was nothing");
    }

    @Test
    void a_row_with_an_empty_id_or_group_is_reported_with_its_location() {
        assertThat(RunFiles.problems(
                        "tasks: [{ forEach: a.csv, id: '${i}', group: '${g}', run: 'true' }]",
                        Map.of("a.csv", "i,g\n,x\ny,\n")))
                .containsExactly(
                        "a.csv:2:1: the id of a task must not be empty",
                        "a.csv:3:1: the group of task \"y\" must not be empty");
    }

    @Test
    void invalid_yaml_is_reported_with_its_location() {
        assertThat(RunFiles.problems("tasks:\n  - { id: a\n  - b\n"))
                .containsExactly("checks.yaml:4:1: expected ',' or '}', but got <stream end>"
                        + " (while parsing a flow mapping that begins at 2:5)");
        assertThat(RunFiles.problems("")).containsExactly("checks.yaml:1:1: the file is empty");
        assertThat(RunFiles.problems("a: 1\n---\nb: 2\n"))
                .singleElement()
                .asString()
                .startsWith("checks.yaml:2:1: ");
    }

    @Test
    void a_file_that_is_not_a_run_file_is_reported_with_the_expected_form() {
        assertThat(RunFiles.problems("- a\n"))
                .containsExactly(
                        "checks.yaml:1:1: the file must be a map, was a list of 1",
                        "checks.yaml:1:1: the file needs the key \"tasks\"");
        assertThat(RunFiles.problems("tasks: {}\n"))
                .containsExactly("checks.yaml:1:8: tasks must be a list, was a map");
        assertThat(RunFiles.problems("tasks: []\n"))
                .containsExactly("checks.yaml:1:8: tasks must have at least one task");
        assertThat(RunFiles.problems("tasks: [a]\n")).contains("checks.yaml:1:9: task must be a map, was \"a\"");
    }

    @ParameterizedTest
    @ValueSource(ints = {101, 20_000, 200_000})
    void lists_and_maps_nested_too_deep_are_reported_with_their_location(int depth) {
        String rule = "lists and maps must not be nested more than 100 deep";
        assertThat(RunFiles.problems("tasks:\n " + "[".repeat(depth) + "]".repeat(depth)))
                .containsExactly("checks.yaml:2:101: " + rule);
        assertThat(RunFiles.problems("{a: ".repeat(depth) + "}".repeat(depth)))
                .containsExactly("checks.yaml:1:401: " + rule);
        assertThat(RunFiles.problems("? ".repeat(depth))).containsExactly("checks.yaml:1:201: " + rule);
        assertThat(RunFiles.problems(
                        "tasks: [{ forEach: a.json, id: '${n}', run: 'true' }]", Map.of("a.json", "[".repeat(depth))))
                .containsExactly("a.json:1:101: " + rule);
    }

    @Test
    void the_deepest_valid_run_file_is_accepted() {
        assertThat(RunFiles.problems("[".repeat(100) + "]".repeat(100)))
                .containsExactly(
                        "checks.yaml:1:1: the file must be a map, was a list of 1",
                        "checks.yaml:1:1: the file needs the key \"tasks\"");
    }

    @Test
    void a_file_that_is_too_large_is_reported_with_the_limit() {
        byte[] large = new byte[16 * 1024 * 1024 + 1];
        Arrays.fill(large, (byte) '#');

        assertThatThrownBy(() -> PlanReader.decoded("checks.yaml", large))
                .isInstanceOfSatisfying(
                        InvalidFileException.class,
                        e -> assertThat(e.problems())
                                .extracting(Problem::toString)
                                .containsExactly(
                                        "checks.yaml:1:1: the file must have at most 16 MiB (16777216 bytes), it has"
                                                + " more; put data into a file that forEach names, such as .jsonl or"
                                                + " .csv"));
    }

    @Test
    void only_as_much_of_a_file_is_read_as_shows_that_it_is_too_large(@TempDir Path directory) throws Exception {
        Path endless = directory.resolve("endless");
        try (RandomAccessFile file = new RandomAccessFile(endless.toFile(), "rw")) {
            file.setLength(1L << 40); // a sparse file
        }

        assertThat(FileSize.LINES.read(endless)).hasSize(64 * 1024 * 1024 + 1);
    }

    @Test
    void a_data_file_that_is_too_large_is_reported_with_the_limit() {
        byte[] large = new byte[64 * 1024 * 1024 + 1];
        PlanReader reader = new PlanReader("checks.yaml", RunFiles.DIRECTORY, name -> large);

        assertThat(RunFiles.problems(reader, """
                        tasks:
                          - { forEach: a.txt, id: "a${n}", run: "true" }
                          - { forEach: b.json, id: "b${n}", run: "true" }
                        """))
                .containsExactly(
                        "a.txt:1:1: the file must have at most 64 MiB (67108864 bytes), it has more; let raddle map"
                                + " read it from standard input, or split it",
                        "b.json:1:1: the file must have at most 16 MiB (16777216 bytes), it has more; put data into a"
                                + " file that forEach names, such as .jsonl or .csv");
    }

    @Test
    void a_condition_may_have_any_number_of_parts() {
        String when = "a == a" + " or a == b".repeat(20_000) + " and a == b".repeat(20_000);

        assertThat(RunFiles.problems("tasks: [{ id: a, run: 'true', when: '" + when + "' }]"))
                .isEmpty();
    }

    @Test
    void a_file_that_refers_to_itself_is_rejected() {
        assertThat(RunFiles.problems("tasks: &t [*t]\n"))
                .contains("checks.yaml:1:8: task must be a map, was a list of 1");
        assertThat(RunFiles.problems("tasks: [&t { <<: *t, id: a, run: 'true' }]\n"))
                .containsExactly("checks.yaml:1:9: task must not merge itself");
        assertThat(RunFiles.problems("tasks: [&t { <<: &s { <<: [*t, *s] }, id: a, run: 'true' }]"))
                .containsExactly(
                        "checks.yaml:1:9: task must not merge itself", "checks.yaml:1:18: task must not merge itself");
    }

    @Test
    void a_chain_of_merges_that_is_read_from_its_end_has_a_limit() {
        StringBuilder chain = new StringBuilder("&m0 { run: 'true' }");
        for (int i = 1; i <= 20_000; i++) {
            chain.append(", &m" + i + " { <<: *m" + (i - 1) + " }");
        }

        assertThat(RunFiles.problems(
                        "tasks: [{ id: a, run: 'true', env: { A: [" + chain + "] } }," + " { <<: *m20000, id: b }]"))
                .anySatisfy(problem -> assertThat(problem)
                        .matches(
                                "checks.yaml:1:\\d+: a chain of maps that merge each other must have at most 100; merge"
                                        + " one map that has the keys of all"));
    }

    @Test
    void a_map_that_collects_the_entries_of_a_chain_has_a_limit() {
        StringBuilder text = new StringBuilder("tasks:\n  - { id: t0, run: 'true', env: &e0 { V0: x } }\n");
        for (int i = 1; i <= 1_500; i++) {
            text.append(
                    "  - { id: t" + i + ", run: 'true', env: &e" + i + " { <<: *e" + (i - 1) + ", V" + i + ": x } }\n");
        }

        assertThat(RunFiles.problems(text.toString()))
                .containsExactly(
                        "checks.yaml:1002:36: env must have at most 1000 entries with those that it merges, had"
                                + " 1001; merge maps with fewer");
    }

    @Test
    void a_command_that_the_locale_cannot_express_is_a_problem() {
        PlanReader reader = new PlanReader("checks.yaml", RunFiles.DIRECTORY, name -> new byte[0])
                .charset(StandardCharsets.ISO_8859_1);

        assertThat(RunFiles.problems(reader, """
                tasks:
                  - { id: a, run: [echo, größe] }
                  - { id: b, run: [echo, 日本] }
                  - { id: c, run: 'true', env: { A: 日本 } }
                """))
                .containsExactly(
                        "checks.yaml:3:5: task \"b\" cannot be started: the locale's character set, ISO-8859-1, cannot"
                                + " encode \"日本\"; set LC_ALL=C.UTF-8",
                        "checks.yaml:4:5: task \"c\" cannot be started: the locale's character set, ISO-8859-1, cannot"
                                + " encode \"日本\"; set LC_ALL=C.UTF-8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "{{.X}} | 3:10: run must be a text (for the shell) or a list (a program and its arguments), was a map;"
                        + " put a text that begins with { between quotes",
                "[echo, {{ x }}] | 3:17: an argument of run must be a text, was a map; put a text that begins with {"
                        + " between quotes",
                "echo a: b | 3:16: a text that contains a colon and a blank must be between quotes",
                "@x | 3:10: a text that begins with @ must be between quotes",
                "%x | 3:10: a text that begins with % must be between quotes",
                "*.txt | 3:11: a text that begins with * must be between quotes"
            })
    void a_text_that_needs_quotes_has_its_place_and_the_advice(String run, String problem) {
        assertThat(RunFiles.problems("tasks:\n  - id: a\n    run: " + run + "\n"))
                .containsExactly("checks.yaml:" + problem);
    }

    @Test
    void a_tab_and_a_character_that_is_not_allowed_have_their_place() {
        assertThat(RunFiles.problems("tasks:\n  - id: a\n\trun: x\n"))
                .containsExactly("checks.yaml:3:1: a line must be indented by blanks, not by a tab");
        assertThat(RunFiles.problems("tasks:\n  - id: a\u0001\n"))
                .containsExactly("checks.yaml:2:10: the character U+0001 must not occur in the file");
    }

    @Test
    void a_key_of_another_tool_names_the_one_that_is_meant() {
        assertThat(RunFiles.problems("""
                tasks:
                  - { id: a, command: x }
                  - { id: b, run: x, depends_on: a, retries: 3, cwd: x, environment: { A: b } }
                  - { name: c, cmd: x }
                """))
                .anyMatch(problem -> problem.contains("unknown key \"command\" in task; here it is \"run\""))
                .anyMatch(problem -> problem.contains("unknown key \"depends_on\" in task; here it is \"needs\""))
                .anyMatch(problem -> problem.contains("unknown key \"retries\" in task; here it is \"retry\""))
                .anyMatch(problem -> problem.contains("unknown key \"cwd\" in task; here it is \"dir\""))
                .anyMatch(problem -> problem.contains("unknown key \"environment\" in task; here it is \"env\""))
                .anyMatch(problem -> problem.contains("unknown key \"name\" in task; here it is \"id\""))
                .anyMatch(problem -> problem.contains("unknown key \"cmd\" in task; here it is \"run\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"''", "' '", ""})
    void an_empty_id_hides_no_problem_of_other_tasks(String id) {
        assertThat(RunFiles.problems("results: [gone]\ntasks:\n  - { id: " + id
                        + ", run: x }\n  - { id: b, run: x, needs: zzz }\n  - { id: c, run: x, needs: c }\n"))
                .hasSize(4)
                .anyMatch(problem -> problem.contains("results must name tasks of this file, was \"gone\""))
                .anyMatch(problem -> problem.contains("must name tasks of this file, was \"zzz\""))
                .anyMatch(problem -> problem.contains("must not need itself"));
    }
}
