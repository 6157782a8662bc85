package dev.raddle.cli.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The mistakes in the dependencies of a run file, each with its location. */
class InvalidFlowFileTest {
    @Test
    void all_problems_of_the_graph_are_reported_together_each_with_its_line_and_column() {
        assertThat(RunFiles.problems("""
                        params: { day: today, unused: 1 }
                        results: [report, reprot]
                        tasks:
                          - { id: fetch, run: "echo ${param.day}", needs: load }
                          - { id: load, run: "true", needs: [fetch, { any: [fetch, fethc] }] }
                          - { id: self, run: "true", needs: [self] }
                          - { id: few, run: "true", needs: [{ atLeast: 3, of: [load, self] }] }
                          - { id: report, run: "echo ${few.stdout} ${param.dya}", needs: self, timeout: 1 }
                          - { id: late, run: "echo ${few.stdout}", needs: [self] }
                          - { id: odd, run: "echo ${nothing.stdout}", needs: [self] }
                        """))
                .containsExactly(
                        "checks.yaml:7:48: atLeast must be at most the number of tasks in of, 2, was 3; lower it, or"
                                + " name more tasks in of",
                        "checks.yaml:8:24: ${param.dya} in run is not among the params of the file; did you mean"
                                + " \"day\"? (params: day, unused)",
                        "checks.yaml:8:81: timeout must be a number with a unit (ms, s, m or h), such as 200ms or 5s,"
                                + " was \"1\"",
                        "checks.yaml:2:19: results must name tasks of this file, was \"reprot\"; did you mean"
                                + " \"report\"?",
                        "checks.yaml:5:53: the needs of task \"load\" must name a task once, \"fetch\" occurs twice",
                        "checks.yaml:5:60: the needs of task \"load\" must name tasks of this file, was \"fethc\";"
                                + " did you mean \"fetch\"?",
                        "checks.yaml:6:38: task \"self\" must not need itself; remove it from its needs",
                        "checks.yaml:5:38: the needs of tasks must not form a cycle, was fetch -> load -> fetch"
                                + " (each needs the next); remove one of these needs",
                        "checks.yaml:9:22: ${few.stdout} in run must name a task that is upstream of \"late\", \"few\""
                                + " is not; add it to its needs",
                        "checks.yaml:10:21: ${nothing.stdout} in run must name a task of this file, was \"nothing\"",
                        "checks.yaml:1:23: param \"unused\" is never used; write ${param.unused} where its value"
                                + " belongs, or remove it");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "needs: {} | needs must be ids of tasks or maps: a, { any: [b, c] },"
                        + " { atLeast: 2, of: [d, e, f] }, { optional: g } or { after: h }, was an empty map",
                "needs: [{}] | needs must be ids of tasks or maps: a, { any: [b, c] },"
                        + " { atLeast: 2, of: [d, e, f] }, { optional: g } or { after: h }, was an empty map",
                "needs: [{ afer: a }] | needs must be ids of tasks or maps: a, { any: [b, c] },"
                        + " { atLeast: 2, of: [d, e, f] }, { optional: g } or { after: h },"
                        + " was a map of afer; did you mean \"after\"?",
                "needs: [{ atLeast: 2 }] | needs must be ids of tasks or maps: a, { any: [b, c] },"
                        + " { atLeast: 2, of: [d, e, f] }, { optional: g } or { after: h }, was a map of atLeast",
                "needs: [[a]] | needs must be ids of tasks or maps: a, { any: [b, c] },"
                        + " { atLeast: 2, of: [d, e, f] }, { optional: g } or { after: h }, was a list of 1",
                "needs: [{ any: [] }] | any must name at least one task, was an empty list",
                "needs: [{ atLeast: 0, of: [a] }] | atLeast must be a whole number of at least 1, was 0",
                "needs: [''] | a need must not be empty",
                "needs: [null] | a need must be a text, was nothing",
                "needs: a, when: '${a.exit} = 0' | when must be made of ${…}, texts in quotes, words, ==, !=, contains,"
                        + " and, or, not, was \"= 0\"",
                "needs: a, when: '${a.exit}' | when must compare a value by ==, != or contains, was nothing more",
                "needs: a, when: '${a.exit} ==' | when must have a value: ${…}, a text in quotes or a word, was nothing"
                        + " more",
                "needs: a, when: '${a.exit} == 0 ${a.exit}' | when must continue with and or or, was \"${a.exit}\"",
                "needs: a, when: 'not (${a.exit} == 0' | when must close the parenthesis with ), was nothing more",
                "needs: a, when: 'or' | when must have a value: ${…}, a text in quotes or a word, was \"or\"",
                "needs: a, when: '${x} == 0' | when has the placeholder ${x}, but only a task with forEach has values;"
                        + " write $${ for the characters ${",
                "needs: a, fallback: { value: '${a.stdout}' } | the value of fallback has the placeholder"
                        + " ${a.stdout}, whose value is known only when that task has run; such placeholders belong in"
                        + " run, env, when, fallback and undo",
                "needs: a, fallback: { value: [] } | the value of fallback must be a text, was a list of 0",
                "needs: a, fallback: { run: x, value: y } | unknown key \"run\" in fallback (allowed: value)",
                "needs: a, undo: [] | undo must name at least a program, was an empty list",
                "needs: a, essential: 1 | essential must be true or false, was 1",
                "needs: a, env: { X: '${b.stdout}' } | ${b.stdout} in run must name a task that is upstream of \"b\","
                        + " \"b\" is not; add it to its needs",
                "undo: 'echo ${task.stdout}' | ${task.stdout} in undo stands for the only upstream task, or the winner"
                        + " of the only any, and there are 0 upstream tasks; write the id of the one that is meant"
            })
    void an_invalid_dependency_is_reported_with_the_allowed_values(String ties, String problem) {
        assertThat(RunFiles.problems("""
                        tasks:
                          - { id: a, run: "true" }
                          - { id: b, run: "true", %s }
                        """.formatted(ties)))
                .singleElement()
                .asString()
                .matches("checks\\.yaml:3:\\d+: .*")
                .endsWith(": " + problem);
    }

    @Test
    void an_invalid_condition_is_reported_with_the_column_of_the_error() {
        assertThat(RunFiles.problems(
                        "tasks: [{ id: a, run: 'true' }, { id: b, run: 'true', needs: a, when: '${a.exit} = 0' }]"))
                .singleElement()
                .asString()
                .startsWith("checks.yaml:1:82: when must be made of");
    }

    @Test
    void a_long_cycle_is_reported_once_with_its_whole_path() {
        assertThat(RunFiles.problems("""
                        tasks:
                          - { id: z, run: "true", needs: a }
                          - { id: a, run: "true", needs: [b] }
                          - { id: b, run: "true", needs: [{ optional: c }] }
                          - { id: c, run: "true", needs: [{ after: a }, z] }
                        """))
                .singleElement()
                .asString()
                .contains("was a -> b -> c -> a (each needs the next)");
    }

    /** A recursion with one level per task would overflow the small stack after a thousand tasks. */
    @Test
    void a_long_chain_does_not_overflow_the_stack() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int i = 1; i <= 10_000; i++) {
            lines.append("{\"i\":")
                    .append(i)
                    .append(",\"before\":")
                    .append(i % 10_000 + 1)
                    .append("}\n");
        }
        Map<String, String> data = Map.of("a.jsonl", lines.toString());

        FutureTask<List<String>> reading = new FutureTask<>(() -> RunFiles.problems(
                "tasks: [{ forEach: a.jsonl, id: 't${i}', run: 'true', needs: 't${before}' }]", data));
        new Thread(null, reading, "small stack", 256 * 1024).start();

        assertThat(reading.get())
                .singleElement()
                .asString()
                .contains("must not form a cycle, was t1 -> t2 -> t3 -> ", " -> (9961 more) -> ");
    }

    @Test
    void a_mistake_in_one_task_is_not_reported_again_for_its_downstream_tasks() {
        assertThat(RunFiles.problems("""
                        tasks:
                          - { id: a, run: "true", timeout: 1 }
                          - { id: b, run: "true", needs: a }
                        """)).singleElement().asString().contains("timeout");
        assertThat(RunFiles.problems("""
                        tasks:
                          - { id: "a${day}", run: "true" }
                          - { id: b, run: "true", needs: a }
                        """)).singleElement().asString().contains("id has the placeholder ${day}");
    }

    @Test
    void a_param_without_a_default_needs_a_value() {
        String file = "params: { day: }\ntasks: [{ id: a, run: 'echo ${param.day}' }]";

        assertThat(RunFiles.problems(file))
                .containsExactly("checks.yaml:1:11: param \"day\" has no default and needs a value;"
                        + " give it with --param day=VALUE");
    }

    @Test
    void a_value_for_an_unknown_param_is_a_problem() {
        PlanReader reader =
                new PlanReader("checks.yaml", RunFiles.DIRECTORY, name -> new byte[0]).params(Map.of("dya", "x"));
        assertThat(RunFiles.problems(reader, "params: { day: 1 }\ntasks: [{ id: a, run: 'echo ${param.day}' }]"))
                .containsExactly("checks.yaml:1:9: --param dya is not among the params of the file;"
                        + " did you mean \"day\"? (params: day)");
    }
}
